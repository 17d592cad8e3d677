-- scalar in select
select cid, (select sum(amount) from orders o where o.cust = c.cid and status = 'N') as s, (select max(price) from items where cat = 'w') as mp, (select count(*) from orders where qty = c.tier) as n from customers c
-- scalar in where
select oid from orders o where amount > (select avg(amount) from orders i where i.cust = o.cust) and qty < (select max(stock) from items)
-- scalar in case
select cid, case when tier > (select avg(stock) from items where cat = 'c') then city when exists (select 1 from orders o where o.cust = c.cid and o.item = 'pen') then cname else '-' end as x from customers c
-- not in with nulls
select name, price from items where name not in (select item from orders where qty > 7)
-- correlated not in
select cid from customers c where tier not in (select qty from orders o where o.cust = c.cid)
-- exists or
select cid, city from customers c where exists (select 1 from orders o where o.cust = c.cid and o.amount > 90) or tier = 1
-- in by several columns
select oid from orders where (item, status) in (select name, upper('n') from items where stock > 0)
-- in as a value
select cid, tier in (select qty from orders where amount > 95) as i, (select count(*) from items where stock > 2) > 3 as b from customers
-- in within a case
select oid, case when item in (select name from items where stock > 3) then qty else 0 end as z from orders
-- nested correlation
select cid from customers c where exists (select 1 from orders o where o.cust = c.cid and o.amount > (select avg(i.price) from items i where i.name = o.item))
-- order by a subquery
select oid from (select oid, (select max(price) from items i where i.name = o.item) as mp from orders o) order by mp nulls last, oid
-- as of the last event
select o.oid, (select max_by(e.eid, e.ts) from events e where e.who = o.cust and e.ts <= o.day) as le from orders o
-- common table expressions
with a as (select cust, sum(amount) as s from orders group by cust), b as (select *, ntile(4) over (order by s, cust) as q from a)
select x.cust, x.s, y.s as ys from b x join b y on x.q = y.q and x.cust < y.cust where x.s > (select avg(s) from a)
-- correlated common table expression
select c.cid, (with a as (select amount, qty from orders where status = 'N') select count(*) from a where a.qty = c.tier) as n from customers c
-- recursion
with recursive r (cid, ref, lvl, path) as (
 select cid, ref, 0, cast(cname as string) from customers where ref is null
 union all select c.cid, c.ref, lvl + 1, concat_ws('/', path, c.city) from customers c join r on c.ref = r.cid where lvl < 4)
select cid, lvl, path from r
-- recursion that counts
with recursive r (n, v) as (select 1, max(qty) from orders union all select n + 1, v + 1 from r where n < 5) select n, v from r
-- lateral alias
select amount * 2 as a2, a2 + qty as b, b * tier2 as c from (select o.*, c.tier as tier2 from orders o left join customers c on cust = cid)
-- subquery of a subquery
select cid, (select sum(amount) from orders where qty > (select min(stock) from items where cat = 'k')) as s from customers
-- like any
select oid from orders where item like any ('p%', '%x')
-- struct of a scalar subquery
select cid, (select struct(max(amount) as m, min(qty) as q) from orders o where o.cust = c.cid).m as m from customers c
-- one field of a scalar subquery
select cid, (select named_struct('x', max(oid), 'y', max(qty)) from orders where status = 'N').y as y from customers
-- one field of a scalar subquery in a common table expression
with best as (select first(named_struct('a', item, 'b', amount, 'c', named_struct('d', note, 'e', qty))) as s from orders) select name, (select s from best).a as a, (select s from best).c.e as e from items
-- a scalar subquery whose fields are taken later
select s.x as x, s.y as y from (select (select named_struct('x', max(oid), 'y', max(qty)) from orders where day > '2024-01-01') as s from customers)
-- a field of one of two scalar subqueries
select coalesce((select max(struct(amount, item)) from orders where qty > 100), (select struct(price as amount, name as item) from items order by stock limit 1)).item as i from customers
-- a field of a correlated scalar subquery
select name, (select max(struct(o.amount as a, o.oid as o)) from orders o where o.item = i.name).a as a from items i
-- a field of a struct column in a scalar subquery
select oid, (select first(st) from events where eid = oid).q as q, (select max(st.r) from events).z as z from orders
-- subqueries that the optimizer merges
select case when (select count(*) from orders where qty between 1 and 4) > 10 then (select avg(amount) from orders where qty between 1 and 4) else (select max(oid + 1) from orders where qty between 1 and 4) end as b1, case when (select count(*) from orders where qty between 5 and 9) > 1000 then (select avg(oid) from orders where qty between 5 and 9) else (select avg(amount) from orders where qty between 5 and 9) end as b2 from items where name = 'pen'
