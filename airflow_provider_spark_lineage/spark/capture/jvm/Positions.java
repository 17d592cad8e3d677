package sparklineage;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * The positions of a node's children, by identity: the first one of a child that is there twice.
 *
 * A list in SQL may have 100,000 items, and each field of a node asks for the positions of its values.
 */
public class Positions {
    public static final Positions NONE = new Positions(new ArrayList());

    /** Up to this number of children, a search takes less time than a map. */
    private static final int FEW = 8;

    private final List children;
    private Map known = null;

    public Positions(List children) {
        this.children = children;
    }

    /** Returns the position of a child; -1 for any other object. */
    public int of(Object value) {
        if (children.size() > FEW) {
            return ofMany(value);
        }
        for (int i = 0; i < children.size(); i++) {
            if (children.get(i) == value) {
                return i;
            }
        }
        return -1;
    }

    private int ofMany(Object value) {
        if (known == null) {
            known = new IdentityHashMap(children.size());
            for (int i = children.size() - 1; i >= 0; i--) {
                known.put(children.get(i), Integer.valueOf(i));
            }
        }
        Object position = known.get(value);
        return position == null ? -1 : ((Integer) position).intValue();
    }

    /** Returns whether all values are children. */
    public boolean haveAll(scala.collection.Seq values) {
        scala.collection.Iterator each = values.iterator();
        while (each.hasNext()) {
            if (of(each.next()) < 0) {
                return false;
            }
        }
        return true;
    }
}
