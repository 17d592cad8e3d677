-- inner
select o.oid, c.city, c.tier * 2 as t2 from orders o join customers c on o.cust = c.cid
-- left with a condition on the other side
select o.oid, c.city from orders o left join customers c on o.cust = c.cid and c.tier > 1
-- right
select i.name, i.price, o.oid from orders o right join items i on o.item = i.name and o.qty > 7
-- full using
select name, item, price, amount from items full join (select item as name, item, amount from orders where qty > 3) using (name)
-- natural
select * from (select oid, item as name, qty from orders) natural left join items
-- natural full
select * from (select item as name, qty as stock, oid from orders) natural full join items
-- semi and anti
select cid, cname from customers left semi join orders on cid = cust and amount > 50
union all select cid, cname from customers left anti join orders on cid = cust
-- cross
select c.cid, i.name from customers c cross join items i where i.cat = 'w'
-- range of values
select a.oid as x, b.oid as y from orders a join orders b on a.amount between b.amount and b.amount + 0.5 and a.oid < b.oid
-- null-safe equality
select o.oid, i.price from orders o full join items i on o.item <=> i.name
-- comma and where
select o.oid, c.cname, i.price from orders o, customers c, items i where o.cust = c.cid and o.item = i.name and c.tier < 4
-- same table three times
select a.cid, b.cname as boss, c.city as top from customers a left join customers b on a.ref = b.cid left join customers c on b.ref = c.cid
-- using twice
select cust, status, a.oid, b.amount from orders a join orders b using (cust, status) where a.day < b.day
-- condition with a subquery
select o.oid, c.cname from orders o left join customers c on o.cust = c.cid and c.tier > (select min(qty) from orders where status = 'N')
-- hints
select /*+ broadcast(i) */ o.oid, i.price from orders o join items i on o.item = i.name
-- values
select v.k, sum(o.amount) as s from values ('pen', 1), ('ink', 2) v (k, n) join orders o on o.item = v.k and o.qty > v.n group by v.k
-- range
select r.id, o.item from range(1, 50) r left join orders o on o.oid = r.id
-- aggregated side
select c.city, count(o.oid) as n, count(*) as a, sum(o.amount) as s from customers c left join orders o on c.cid = o.cust group by c.city
-- lateral
select c.cid, l.* from customers c, lateral (select max(amount) as m, count(*) as n from orders o where o.cust = c.cid and o.qty > c.tier) l
-- lateral left with limit
select c.cid, l.item, l.amount from customers c left join lateral (select item, amount from orders o where o.cust = c.cid order by amount desc, oid limit 1) l on l.amount > 20
-- lateral of a function
select e.eid, t.col from events e, lateral explode(e.arr) t where e.bits
-- lateral after lateral
select c.cid, x.m, y.n from customers c, lateral (select max(o.amount) as m from orders o where o.cust = c.cid) x, lateral (select count(*) as n from items i where i.price < x.m) y
-- star without some
select o.* except (note, day), i.* from orders o left join items i on o.item = i.name
-- a column that only decides
select o.item from orders o join customers c on o.cust = c.cid where c.tier = 2
-- case in the condition
select o.oid, i.stock from orders o left join items i on case when o.status = 'N' then o.item else o.note end = i.name
