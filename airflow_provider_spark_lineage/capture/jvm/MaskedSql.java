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
 * Keywords, operators and names stay. What the lexer does not know as one of these becomes a question mark;
 * a text in which it meets letters that are no SQL is left out.
 */
public class MaskedSql {
    private static final String LEXER = "org.apache.spark.sql.catalyst.parser.SqlBaseLexer";
    private static final Set NAMES = new HashSet(
        Arrays.asList(new String[] {"IDENTIFIER", "BACKQUOTED_IDENTIFIER"})
    );

    /** Keywords and operators that have several spellings: the lexer does not tell the one. */
    private static final Pattern WORD = Pattern.compile("[A-Za-z_]+|[-+*/%&|^~=<>!.:,;()\\[\\]?]+");

    /** What the lexer may call a literal whose text looks like a word. */
    private static final Pattern LITERAL = Pattern.compile(".*(?:STRING|LITERAL|VALUE|DOLLAR).*");

    /** Statements whose rest is taken to the letter, behind a first word that names a setting or a kind. */
    private static final Set RAW = new HashSet(Arrays.asList(new String[] {"SET", "RESET", "ADD", "LIST"}));

    /** What follows SET where the rest is SQL after all. */
    private static final Set READ = new HashSet(Arrays.asList(new String[] {"VARIABLE", "VAR", "CATALOG"}));

    /** What a statement may follow, inside of a script too. */
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

    /** Returns a statement as it may be handed on; empty where the lexer does not understand it. */
    public static String of(String text) throws Exception {
        MaskedSql one = new MaskedSql();
        Object lexer = lexer(text);
        Object words = Paths.call(lexer, "getVocabulary", new Object[0]);
        List tokens = Paths.all(Paths.call(lexer, "getAllTokens", new Object[0]));
        for (Iterator each = tokens.iterator(); each.hasNext();) {
            Object token = each.next();
            String found = (String) Paths.call(token, "getText", new Object[0]);
            Object type = Paths.call(token, "getType", new Object[0]);
            String name = (String) Paths.call(words, "getSymbolicName", new Object[] {type});
            if (name == null || name.equals("UNRECOGNIZED")) {
                return "";
            }
            boolean isFixed = Paths.call(words, "getLiteralName", new Object[] {type}) != null;
            if (((Integer) Paths.call(token, "getChannel", new Object[0])).intValue() != 0) {
                one.space(found);
            } else if (isFixed || NAMES.contains(name)) {
                one.word(found, found);
            } else {
                boolean isKnown = WORD.matcher(found).matches() && !LITERAL.matcher(name).matches();
                one.word(found, isKnown ? found : "?");
            }
        }
        return one.out.toString().trim();
    }

    /** Takes what stands between words: a comment is a space. */
    private void space(String found) {
        if (state == IN_NAME) {
            state = BEHIND_NAME;
        } else if (state < IN_NAME) {
            out.append(found.trim().isEmpty() ? found : " ");
        }
    }

    private void word(String found, String shown) {
        String word = found.toUpperCase(Locale.ROOT);
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

    /** Returns Spark's lexer over a text: it reads letters in upper case, and gives them as they are. */
    private static Object lexer(String text) throws Exception {
        // By name, because a vendor's Spark may keep its parser elsewhere: then no text is handed on.
        ClassLoader loader = org.apache.spark.sql.catalyst.plans.logical.LogicalPlan.class.getClassLoader();
        Class stream = Class.forName("org.antlr.v4.runtime.CharStream", true, loader);
        Class streams = Class.forName("org.antlr.v4.runtime.CharStreams", true, loader);
        Class upper = Class.forName("org.apache.spark.sql.catalyst.parser.UpperCaseCharStream", true, loader);
        java.lang.reflect.Method read = streams.getMethod("fromString", new Class[] {String.class});
        Object letters = read.invoke(null, new Object[] {text});
        Object folded = upper.getConstructors()[0].newInstance(new Object[] {letters});
        Class kind = Class.forName(LEXER, true, loader);
        Object lexer = kind.getConstructor(new Class[] {stream}).newInstance(new Object[] {folded});
        // Otherwise it prints what it does not understand.
        Paths.call(lexer, "removeErrorListeners", new Object[0]);
        return lexer;
    }
}
