-- union of types
select oid, amount from orders where qty = 1 union select cid, tier from customers union all select eid, null from events where bits
-- union all of one table
select oid, item as x from orders union all select oid, note from orders where qty > 3
-- intersect and except
select item, qty from orders where amount > 50 intersect select name, stock from items except select note, qty from orders
-- except all and intersect all
select item from orders except all select name from items intersect all select item from orders
-- minus
select cust, item from orders minus select cid, cname from customers
-- distinct
select distinct upper(item) as u, qty % 2 as odd from orders
-- union in a subquery
select x, count(*) as n from (select item as x from orders union all select name from items) group by x
-- union under filter
select * from (select oid, amount as v from orders union all select cid, tier from customers) where v > 2
-- corresponding columns of a union
select a, b from (select oid as a, item as b from orders union all select cid as b, cname as a from customers)
-- sample
select oid, item from orders tablesample (30 percent) repeatable (5) where qty > 1
-- sample of rows
select oid, item from orders tablesample (40 rows)
-- limit and offset
select oid, item from orders order by amount desc nulls last, oid limit 20 offset 5
-- order by what is not selected
select item from orders where qty > 2 order by day, oid
-- order by an alias
select oid, amount * qty as total from orders order by total nulls first, oid
-- order by all
select item, qty from orders order by all
-- sort inside a partition
select oid, amount from orders sort by amount
-- distribute and cluster
select oid, status from orders distribute by item
-- limit by a subquery
select (select item from orders order by amount desc, oid limit 1) as top, cid from customers
