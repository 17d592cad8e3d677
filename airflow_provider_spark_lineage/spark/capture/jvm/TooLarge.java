package sparklineage;

/** A plan whose text is longer than the limit. */
public class TooLarge extends Exception {
}
