package sparklineage;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * A statement without literals and comments, read by Spark's own lexer.
 *
 * Keywords, operators and names stay; any other token becomes a question mark. A text that the lexer cannot
 * read is left out.
 */
public class MaskedSql {
    private static final String LEXER = "org.apache.spark.sql.catalyst.parser.SqlBaseLexer";
    private static final Set NAMES = new HashSet(
        Arrays.asList(new String[] {"IDENTIFIER", "BACKQUOTED_IDENTIFIER"})
    );

    /** Keywords and operators with several spellings, which the lexer's vocabulary does not list. */
    private static final Pattern WORD = Pattern.compile("[A-Za-z_]+|[-+*/%&|^~=<>!.:,;()\\[\\]?]+");

    /** Names of tokens that are literals, even if their text looks like a word. */
    private static final Pattern LITERAL = Pattern.compile(".*(?:STRING|LITERAL|VALUE|DOLLAR).*");

    /** Statements whose rest is not SQL, behind a word that names a setting or a kind of resource. */
    private static final Set RAW = new HashSet(Arrays.asList(new String[] {"SET", "RESET", "ADD", "LIST"}));

    /** Words behind SET if the rest is SQL. */
    private static final Set READ = new HashSet(Arrays.asList(new String[] {"VARIABLE", "VAR", "CATALOG"}));

    /** Tokens that a statement may follow, also in a script. */
    private static final Set BEFORE = new HashSet(
        Arrays.asList(new String[] {";", ":", "BEGIN", "ATOMIC", "THEN", "ELSE", "DO", "LOOP", "REPEAT"})
    );

    private static final int SQL = 0;
    private static final int BEFORE_NAME = 1;
    private static final int IN_NAME = 2;
    private static final int BEHIND_NAME = 3;
    private static final int LEFT_OUT = 4;

    private final StringBuilder out = new StringBuilder();
    private int state = SQL;
    private String before = ";";

    private MaskedSql() {}

    /** Returns a masked statement; empty if the lexer cannot read it. */
    public static String of(String text) throws Exception {
        MaskedSql masked = new MaskedSql();
        Object lexer = lexer(text);
        Object words = Paths.call(lexer, "getVocabulary", new Object[0]);
        List tokens = Paths.all(Paths.call(lexer, "getAllTokens", new Object[0]));
        for (Iterator each = tokens.iterator(); each.hasNext();) {
            Object token = each.next();
            String word = (String) Paths.call(token, "getText", new Object[0]);
            Object type = Paths.call(token, "getType", new Object[0]);
            String name = (String) Paths.call(words, "getSymbolicName", new Object[] {type});
            if (name == null || name.equals("UNRECOGNIZED")) {
                return "";
            }
            boolean isFixed = Paths.call(words, "getLiteralName", new Object[] {type}) != null;
            if (((Integer) Paths.call(token, "getChannel", new Object[0])).intValue() != 0) {
                masked.space(word);
            } else if (isFixed || NAMES.contains(name)) {
                masked.word(word, word);
            } else {
                boolean isKnown = WORD.matcher(word).matches() && !LITERAL.matcher(name).matches();
                masked.word(word, isKnown ? word : "?");
            }
        }
        return masked.out.toString().trim();
    }

    /** Adds the text between words; a comment becomes a space. */
    private void space(String text) {
        if (state == IN_NAME) {
            state = BEHIND_NAME;
        } else if (state < IN_NAME) {
            out.append(text.trim().isEmpty() ? text : " ");
        }
    }

    private void word(String text, String shown) {
        String word = text.toUpperCase(Locale.ROOT);
        if (word.equals(";")) {
            state = SQL;
        } else if (state == IN_NAME && word.equals("=") || state == BEHIND_NAME) {
            out.append(word.equals("=") ? " = ?" : " ?");
            state = LEFT_OUT;
        } else if (state == BEFORE_NAME) {
            state = before.equals("SET") && READ.contains(word) ? SQL : IN_NAME;
        } else if (state == SQL && RAW.contains(word) && BEFORE.contains(before)) {
            state = BEFORE_NAME;
        }
        if (state != LEFT_OUT) {
            out.append(shown);
        }
        before = word;
    }

    /** Returns Spark's lexer for a text: it compares in upper case, and returns the text as it is. */
    private static Object lexer(String text) throws Exception {
        // By name: a vendor's Spark may have its parser elsewhere, and the SQL is left out then.
        ClassLoader loader = org.apache.spark.sql.catalyst.plans.logical.LogicalPlan.class.getClassLoader();
        Class stream = Class.forName("org.antlr.v4.runtime.CharStream", true, loader);
        Class streams = Class.forName("org.antlr.v4.runtime.CharStreams", true, loader);
        Class upper = Class.forName("org.apache.spark.sql.catalyst.parser.UpperCaseCharStream", true, loader);
        java.lang.reflect.Method read = streams.getMethod("fromString", new Class[] {String.class});
        Object letters = read.invoke(null, new Object[] {text});
        Object folded = upper.getConstructors()[0].newInstance(new Object[] {letters});
        Class kind = Class.forName(LEXER, true, loader);
        Object lexer = kind.getConstructor(new Class[] {stream}).newInstance(new Object[] {folded});
        // Otherwise it prints errors to stderr.
        Paths.call(lexer, "removeErrorListeners", new Object[0]);
        return lexer;
    }
}
