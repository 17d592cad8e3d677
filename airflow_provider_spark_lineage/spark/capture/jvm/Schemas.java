package sparklineage;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Removes metadata and serialized classes from the JSON of Spark's types: comments, defaults, code. */
public class Schemas {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    public static String plain(String json) {
        if (!json.contains("\"metadata\":{\"") && !json.contains("\"serializedClass\"")) {
            return json;
        }
        try {
            Object type = MAPPER.readValue(json, Object.class);
            strip(type);
            return MAPPER.writeValueAsString(type);
        } catch (java.io.IOException error) {
            return "null";
        }
    }

    private static void strip(Object value) {
        if (value instanceof Map) {
            Map map = (Map) value;
            map.remove("serializedClass");
            if (map.get("metadata") instanceof Map) {
                map.put("metadata", new LinkedHashMap());
            }
            strip(map.values().iterator());
        } else if (value instanceof List) {
            strip(((List) value).iterator());
        }
    }

    private static void strip(Iterator each) {
        while (each.hasNext()) {
            strip(each.next());
        }
    }
}
