-- pipe
from orders |> where qty > 2 |> extend amount * qty as tot |> aggregate sum(tot) as s, count(*) as n group by item |> order by s desc, item |> limit 3
-- pipe with set and join
from orders |> set amount = coalesce(amount, qty) |> drop note, day |> as o |> left join items on o.item = items.name |> select o.oid, o.amount, price |> where price > 1
-- pipe with union and pivot
from orders |> select item, status, amount |> where status <> 'X' |> pivot (sum(amount) for status in ('N', 'S')) |> union all (select name, price, stock from items)
-- session variable
declare or replace variable bound double default 1;
set var bound = (select avg(amount) from orders where status = 'N');
select cid, tier * bound as x from customers
-- session variable in a filter
declare or replace variable bound int default 1;
set var bound = (select max(qty) from orders where item = 'pen');
select cid, city from customers where tier + 5 > bound
-- two variables
declare or replace variable low double default 1;
declare or replace variable high double default 1;
set var (low, high) = (select min(price), max(stock) from items);
select oid, amount between low and high as b from orders
-- variable from a variable
declare or replace variable least double default 1;
declare or replace variable most double default least * 2;
set var least = (select min(price) from items where stock > 1);
set var most = least + (select max(amount) from orders);
select oid, amount between least and most as b from orders where amount > least
-- execute immediate with the names of variables
declare or replace variable bound double default 1;
set var bound = (select avg(amount) from orders where status = 'N');
execute immediate 'select cid, tier * bound as x from customers where tier < bound'
-- execute immediate with parameters
declare or replace variable bound double default 1;
set var bound = (select avg(amount) from orders where status = 'N');
execute immediate 'select cid, tier * :m as x, :n as n, city from customers' using bound as m, bound + 1 as n
-- execute immediate with a parameter in a filter
declare or replace variable bound int default 1;
set var bound = (select max(qty) from orders where item = 'pen');
execute immediate 'select cid, city from customers where tier + 5 > ?' using bound
-- execute immediate with a text that is put together
declare or replace variable bound int default 1;
declare or replace variable query string;
set var bound = (select max(qty) from orders where item = 'pen');
set var query = 'select cid, ' || bound || ' as b from customers';
execute immediate query
-- execute immediate into a variable
declare or replace variable bound double default 1;
declare or replace variable result double default 1;
set var bound = (select avg(amount) from orders where status = 'N');
execute immediate 'select max(price) * ? from items' into result using bound;
select cid, tier + result as x from customers
-- function
create or replace temporary function with_tax(a double, q int) returns double return a * 1.25 + coalesce(q, 0);
select oid, with_tax(amount, qty) as t from orders
-- function with a query
create or replace temporary function city_of(i bigint) returns string return (select max(city) from customers where cid = i);
select oid, city_of(cust) as c from orders
-- function of rows
create or replace temporary function big(lim int) returns table (o bigint, q int) return select oid, qty from orders where qty > lim;
select oid, amount from orders where oid in (select o from big(4))
-- function of rows in a lateral join
create or replace temporary function orders_of(c bigint) returns table (o bigint, a double) return select oid, amount from orders where cust = c;
select cid, o, a from customers, lateral orders_of(cid)
-- execute immediate
execute immediate 'select oid, amount + qty as aq from orders where item = ?' using 'pen'
-- temporary views
create or replace temp view v1 as select cust, sum(amount) as s from orders group by cust;
create or replace temp view v2 as select v1.*, city from v1 join customers on cust = cid where tier > 1;
select city, max(s) as m from v2 group by city
-- view over a cached table
create or replace temp view kept as select cust, max(amount) as m from orders group by cust;
cache table kept;
select m, cname from kept join customers on cust = cid
-- global temporary view
create or replace global temp view gv as select item, avg(amount) as a from orders group by item;
select a, price from global_temp.gv join items on item = name
-- table in the query
table items
-- from without select
from orders select oid, upper(item) as u where qty > 5
-- values alone and a table
select v.a, (select max(oid) from orders) as m from values (1), (2) as v (a)
