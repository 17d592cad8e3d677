CREATE MATERIALIZED VIEW good AS SELECT customer, amount FROM json.`file:/data/orders`;
CREATE MATERIALIZED VIEW bad AS SELECT customer, raise_error('broken') AS reason FROM good WHERE amount > 0;
