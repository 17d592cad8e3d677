CREATE TEMPORARY VIEW large_orders AS SELECT customer, amount FROM orders WHERE amount > 1;
CREATE MATERIALIZED VIEW totals AS SELECT customer, sum(amount) AS total FROM large_orders GROUP BY customer;
CREATE STREAMING TABLE visits AS SELECT user, page FROM STREAM clicks;
CREATE STREAMING TABLE events;
CREATE FLOW visits_to_events AS INSERT INTO events BY NAME SELECT user AS who, page AS what FROM STREAM visits;
