package sparklineage;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.plans.JoinType;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.Origin;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Writes a logical plan as JSON: a tree is the list of its nodes, each before its children.
 *
 * The shape is that of Spark's own `TreeNode.toJSON`, which takes hundreds of times as long and fails on
 * some classes. Parts that lineage does not need are left out: the values of literals, and
 * fields that may repeat them. A column is written in full once, with a number, and then by its number alone.
 */
public class Plans {
    /** Nodes of a plan to probe: all that a source has probes for, its leaves alone, or none. */
    private static final int ALL = 2;
    private static final int LEAVES = 1;
    private static final int NONE = 0;

    /** Fields of many classes that lineage does not need. */
    private static final Set LEFT_OUT = new HashSet(java.util.Arrays.asList(new String[] {
        "explicitMetadata", "metadata", "nonInheritableMetadataKeys", "qualifier", "timeZoneId",
    }));

    /** Fields whose strings are names of columns and variables; other strings may repeat the statement. */
    private static final Set TEXTS = new HashSet(java.util.Arrays.asList(new String[] {
        "name", "originalNameParts", "queryId", "targetColNameParts",
    }));

    /** Fields whose numbers are ids, positions and lengths; other numbers may be literals. */
    private static final Set NUMBERS = new HashSet(java.util.Arrays.asList(new String[] {
        "cteId", "id", "leftGroupingLen", "loopId", "ordinal", "rightGroupingLen", "unrequiredChildIndex",
    }));

    private static final Pattern WORD = Pattern.compile("[\\p{L}_][\\p{L}\\p{N}_]*");
    private static final Map NAMES = new ConcurrentHashMap();

    private final Query query;
    private final Json out;
    private final long limit;
    private final Map columns = new HashMap();

    /** Columns with a number -> the number: in a wide plan, most nodes pass on the same objects. */
    private final Map numbered = new IdentityHashMap();
    private final Map types = new IdentityHashMap();
    private final Set asked = new HashSet();

    /** Ids of columns without an alias -> the name that Spark made; null where all names stay. */
    private final Map unnamed;

    /** Columns of `unnamed` whose names are left out. */
    private final Map hidden;

    /** Names of columns that the plan writes to a dataset. */
    private final Set written = new HashSet();

    /** The nodes to probe, in the order of the plan: an Object[] of name, node and its first column's id. */
    public final List wanted = new ArrayList();

    public Plans(Query query, Json out, long limit) {
        this(query, out, limit, query.reader.texts.isFull ? null : new HashMap(), new HashMap());
    }

    private Plans(Query query, Json out, long limit, Map unnamed, Map hidden) {
        this.query = query;
        this.out = out;
        this.limit = limit;
        this.unnamed = unnamed;
        this.hidden = hidden;
    }

    /** Returns a writer of the same plan without names that may repeat a literal; null if it has none. */
    public Plans masked(Json out) {
        if (unnamed != null) {
            // These are columns of a dataset.
            unnamed.values().removeAll(written);
        }
        return unnamed == null || unnamed.isEmpty() ? null : new Plans(query, out, limit, null, unnamed);
    }

    private String named(ExprId id, String name) {
        return name.equals(hidden.get(Long.valueOf(id.id()))) ? "?" : name;
    }

    /** Notes a name that is not a word, or is that of the literal: Spark made it from the expression. */
    private void note(Alias alias) {
        boolean isWord = WORD.matcher(alias.name()).matches();
        if (!isWord || alias.child() instanceof Literal && alias.name().equals(alias.child().toString())) {
            unnamed.put(Long.valueOf(alias.exprId().id()), alias.name());
        }
    }

    private void writes(LogicalPlan command) {
        List queries = Paths.all(command.children());
        queries.addAll(Paths.all(command.innerChildren()));
        for (Iterator each = queries.iterator(); each.hasNext();) {
            Object query = each.next();
            if (query instanceof LogicalPlan) {
                for (Iterator some = Paths.all(((LogicalPlan) query).output()).iterator(); some.hasNext();) {
                    written.add(((Attribute) some.next()).name());
                }
            }
        }
    }

    public void write(LogicalPlan plan) throws Exception {
        tree(plan, ALL);
    }

    private void tree(TreeNode root, int asking) throws Exception {
        out.open('[');
        ArrayDeque waiting = new ArrayDeque();
        waiting.push(root);
        while (!waiting.isEmpty()) {
            TreeNode node = (TreeNode) waiting.pop();
            List children = Paths.all(node.children());
            if (node instanceof AttributeReference && children.isEmpty()) {
                column((AttributeReference) node);
            } else if (node instanceof LogicalPlan) {
                node(node, children, ask((LogicalPlan) node, children, asking), asking);
            } else {
                node(node, children, asking == NONE ? NONE : LEAVES, asking);
            }
            for (int i = children.size() - 1; i >= 0; i--) {
                waiting.push(children.get(i));
            }
            if (out.length() > limit) {
                throw new TooLarge();
            }
        }
        out.close(']');
    }

    /** Notes a node that a source has probes for; returns which nodes of plans in its fields are probed. */
    private int ask(LogicalPlan node, List children, int asking) {
        if (asking == NONE) {
            return NONE;
        }
        String name = simpleName(node);
        if (query.reader.targets.contains(name)) {
            if (asking != ALL || !query.reader.asks(name, node)) {
                return NONE;
            }
            wanted.add(new Object[] {name, node, null});
            writes(node);
            return ALL;
        }
        if (children.isEmpty() && query.reader.probes.containsKey(name)) {
            Long first = firstId(node);
            // The same relation may be in a plan many times, then with the same ids of columns.
            if (first == null || asked.add(name + first)) {
                wanted.add(new Object[] {name, node, first});
            }
        }
        return NONE;
    }

    public static Long firstId(LogicalPlan node) {
        scala.collection.Iterator output = node.output().iterator();
        return output.hasNext() ? Long.valueOf(((Attribute) output.next()).exprId().id()) : null;
    }

    /** Writes a column in full the first time, and its number alone later. */
    private void column(AttributeReference column) throws Exception {
        Object number = numbered.get(column);
        if (number != null) {
            out.open('{');
            out.name("@");
            out.raw(number);
            out.close('}');
            return;
        }
        String key = column.exprId().id() + "/" + column.nullable() + "/" + column.name();
        Object[] known = (Object[]) columns.get(key);
        out.open('{');
        if (known != null && known[0].equals(column.dataType())) {
            out.name("@");
            out.raw(known[1]);
            numbered.put(column, known[1]);
        } else {
            out.name("class");
            out.plain(column.getClass().getName());
            out.name("num-children");
            out.raw("0");
            out.name("name");
            out.text(named(column.exprId(), column.name()));
            out.name("dataType");
            type(column.dataType());
            out.name("nullable");
            out.raw(String.valueOf(column.nullable()));
            out.name("exprId");
            id(column.exprId());
            if (known == null) {
                out.name("@");
                out.raw(Integer.valueOf(columns.size()));
                numbered.put(column, Integer.valueOf(columns.size()));
                columns.put(key, new Object[] {column.dataType(), Integer.valueOf(columns.size())});
            }
        }
        out.close('}');
    }

    private void node(TreeNode node, List children, int inside, int asking) throws Exception {
        out.open('{');
        out.name("class");
        String kind = node.getClass().getName();
        out.plain(kind);
        out.name("num-children");
        out.raw(Integer.valueOf(children.size()));
        String[] names = names(node.getClass());
        List values = Paths.all(node.productIterator().toSeq());
        values.addAll(Paths.all(node.otherCopyArgs()));
        if (names.length != values.size()) {
            unwritten(node, asking);
        } else {
            if (kind.endsWith(".UpdateFields")) {
                fieldNames((TreeNode) children.get(0));
            }
            Alias alias = node instanceof Alias ? (Alias) node : null;
            if (alias != null && unnamed != null) {
                note(alias);
            }
            boolean isLiteral = kind.endsWith(".Literal");
            if (isLiteral || kind.endsWith(".LocalRelation")) {
                immediate(node, isLiteral);
            }
            Positions positions = new Positions(children);
            for (int i = 0; i < names.length; i++) {
                if (!(isLiteral && names[i].equals("value"))) {
                    Object value = values.get(i);
                    if (alias != null && names[i].equals("name")) {
                        value = named(alias.exprId(), alias.name());
                    }
                    field(names[i], value, positions, inside, asking == NONE ? NONE : LEAVES);
                }
            }
        }
        out.close('}');
    }

    /** Writes the names of a struct's fields, which are literals of its expression; columns have a type. */
    private void fieldNames(TreeNode struct) {
        if (struct instanceof AttributeReference || simpleName(struct).equals("UpdateFields")) {
            return;
        }
        try {
            StructType type = (StructType) ((Expression) struct).dataType();
            out.name("fields");
            out.value(java.util.Arrays.asList(type.fieldNames()));
        } catch (RuntimeException error) {
            // It is not analyzed.
        }
    }

    /** Writes which values of EXECUTE IMMEDIATE may be a variable's: Spark puts them into the text. */
    private void immediate(TreeNode node, boolean isLiteral) {
        scala.Option statement = node.origin().objectType();
        if (statement.isDefined() && statement.get().equals("EXECUTE IMMEDIATE")) {
            out.name("immediate");
            out.plain(isParameter(node.origin(), isLiteral) ? "parameter" : "text");
        }
    }

    /** Returns whether a literal is in the place of a parameter; for listed rows, whether there are any. */
    private static boolean isParameter(Origin origin, boolean isLiteral) {
        try {
            // Since Spark 4.1; before, the plan has the variables themselves.
            scala.Option mapper = (scala.Option) Paths.call(origin, "positionMapper", new Object[0]);
            if (mapper.isEmpty() || !isLiteral) {
                return mapper.isDefined();
            }
            Object place = Paths.call(mapper.get(), "mapToOriginal", new Object[] {origin.startIndex().get()});
            char first = ((String) origin.sqlText().get()).charAt(((Integer) place).intValue());
            return first == ':' || first == '?';
        } catch (Exception error) {
            return false;
        }
    }

    /** Writes only the columns of a node whose fields have no names at run time. */
    private void unwritten(TreeNode node, int asking) throws Exception {
        if (node instanceof LogicalPlan) {
            out.name("unwritten");
            value("output", ((LogicalPlan) node).output(), NONE, NONE);
        }
    }

    /** Writes a field, unless lineage does not need it; a child is written as its position. */
    private void field(String name, Object value, Positions children, int inside, int below) throws Exception {
        boolean isEmpty = value instanceof scala.Option && ((scala.Option) value).isEmpty();
        if (value == null || isEmpty || LEFT_OUT.contains(name)) {
            return;
        }
        int position = value instanceof TreeNode ? children.of(value) : -1;
        if (position >= 0) {
            out.name(name);
            out.raw(Integer.valueOf(position));
            return;
        }
        if (value instanceof scala.collection.Seq && children.haveAll((scala.collection.Seq) value)) {
            out.name(name);
            out.open('[');
            for (Iterator each = Paths.all(value).iterator(); each.hasNext();) {
                out.raw(Integer.valueOf(children.of(each.next())));
            }
            out.close(']');
            return;
        }
        if (isWritten(name, value)) {
            out.name(name);
            value(name, value, inside, below);
        }
    }

    private static boolean isWritten(String field, Object value) {
        if (value instanceof scala.Option) {
            return !((scala.Option) value).isEmpty() && isWritten(field, ((scala.Option) value).get());
        }
        if (value instanceof scala.collection.Seq) {
            // Rows of the user's data are sequences, too: write none that has a value.
            scala.collection.Iterator each = ((scala.collection.Seq) value).iterator();
            while (each.hasNext()) {
                Object element = each.next();
                if (element != null && !(element instanceof scala.Option) && !isWritten(field, element)) {
                    return false;
                }
            }
            return true;
        }
        return value instanceof Boolean
            || value instanceof Number && NUMBERS.contains(field)
            || value instanceof String && TEXTS.contains(field)
            || value instanceof DataType
            || value instanceof TreeNode && !(value instanceof SparkPlan)
            || isObject(value)
            || isProduct(value);
    }

    private static boolean isObject(Object value) {
        return value.getClass().getName().endsWith("$");
    }

    /** Returns whether the fields of a value are written: of a few classes, and of those that hold a tree. */
    private static boolean isProduct(Object value) {
        if (value instanceof ExprId || value instanceof JoinType || value instanceof StructField) {
            return true;
        }
        if (!(value instanceof scala.Product) || value.getClass().getName().startsWith("scala.")) {
            return false;
        }
        if (value.getClass().getName().endsWith(".ExpressionEncoder")) {
            return false;
        }
        scala.collection.Iterator parts = ((scala.Product) value).productIterator();
        while (parts.hasNext()) {
            if (parts.next() instanceof TreeNode) {
                return true;
            }
        }
        return false;
    }

    /** Writes a value; `inside` says which nodes are probed if it is a plan, `below` if it holds one. */
    private void value(String field, Object value, int inside, int below) throws Exception {
        if (value instanceof scala.Option) {
            // A plan in an Option is a copy of a query: do not probe it again.
            value(field, ((scala.Option) value).get(), NONE, below);
        } else if (value instanceof LogicalPlan) {
            tree((LogicalPlan) value, inside);
        } else if (value instanceof TreeNode) {
            tree((TreeNode) value, below);
        } else if (value instanceof DataType) {
            type((DataType) value);
        } else if (value instanceof ExprId) {
            id((ExprId) value);
        } else if (value instanceof scala.collection.Seq) {
            out.open('[');
            for (Iterator each = Paths.all(value).iterator(); each.hasNext();) {
                Object element = each.next();
                if (element != null && isWritten(field, element)) {
                    value(field, element, inside, below);
                } else {
                    out.raw("null");
                }
            }
            out.close(']');
        } else if (isObject(value)) {
            out.open('{');
            out.name("object");
            out.plain(value.getClass().getName());
            out.close('}');
        } else if (isProduct(value)) {
            product((scala.Product) value, below);
        } else {
            out.value(value);
        }
    }

    private void product(scala.Product product, int below) throws Exception {
        out.open('{');
        out.name("product-class");
        out.plain(product.getClass().getName());
        String[] names = names(product.getClass());
        List values = Paths.all(product.productIterator().toSeq());
        for (int i = 0; i < names.length && names.length == values.size(); i++) {
            field(names[i], values.get(i), Positions.NONE, NONE, below);
        }
        out.close('}');
    }

    private void id(ExprId id) {
        out.open('{');
        out.name("id");
        out.raw(Long.valueOf(id.id()));
        out.close('}');
    }

    private void type(DataType type) {
        Object known = types.get(type);
        if (known == null) {
            try {
                known = Schemas.plain(type.json());
            } catch (RuntimeException error) {
                // ObjectType has no JSON.
                known = "null";
            }
            types.put(type, known);
        }
        out.raw(known);
    }

    private static String[] names(Class kind) {
        Object known = NAMES.get(kind);
        if (known == null) {
            List names = new ArrayList();
            try {
                names = Paths.all(
                    org.apache.spark.sql.catalyst.ScalaReflection$.MODULE$.getConstructorParameterNames(kind)
                );
            } catch (RuntimeException error) {
                // It is not a Scala class.
            }
            known = names.toArray(new String[0]);
            NAMES.put(kind, known);
        }
        return (String[]) known;
    }

    /** Returns the name of an object's class, without package and without the `$` of a Scala object. */
    public static String simpleName(Object value) {
        String name = value.getClass().getName();
        String simple = name.substring(name.lastIndexOf('.') + 1);
        while (simple.endsWith("$")) {
            simple = simple.substring(0, simple.length() - 1);
        }
        return simple;
    }
}
