import { Client } from 'pg'

/** One query per kind of object. Names of columns come in alphabetical order: their order in a table has no effect. */
const queries = [
  `select format('column %s.%s %s%s%s%s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
      case when a.attnotnull then ' not null' end, ' default ' || pg_get_expr(d.adbin, d.adrelid),
      case a.attgenerated when 's' then ' generated' end || case a.attidentity when '' then '' else ' identity' end)
   from pg_attribute a join pg_class c on c.oid = a.attrelid left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
   where c.relnamespace = $1::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped`,
  `select 'index ' || indexdef from pg_indexes where schemaname = $1::text`,
  `select format('constraint %s on %s: %s', conname, conrelid::regclass, pg_get_constraintdef(oid))
   from pg_constraint where connamespace = $1::regnamespace and contype <> 'n'`,
  `select format('sequence %s of %s', sequencename, data_type) from pg_sequences where schemaname = $1::text`,
  `select format('trigger %s %s on %s', trigger_name, lower(action_timing || ' ' || event_manipulation), event_object_table)
   from information_schema.triggers where trigger_schema = $1::text`,
  `select format('function %s(%s) returns %s', p.proname, pg_get_function_identity_arguments(p.oid), p.prorettype::regtype) from pg_proc p where p.pronamespace = $1::regnamespace
   and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')`,
  `select 'extension ' || extname from pg_extension
   where extname <> 'plpgsql' and $1::text is not null`,
]

/** What a schema consists of, read from the catalogs, one line per object, sorted. The journal of migrations is left out. */
export async function describeSchema(url: string, schema: string): Promise<string[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const lines: string[] = []
    for (const text of queries)
      for (const [line] of (await client.query<string[]>({ text, values: [schema], rowMode: 'array' })).rows)
        lines.push(String(line))
    return lines.filter((line) => !/\bmigrations(_id_seq|_pkey)?\b/.test(line)).sort()
  } finally {
    await client.end()
  }
}
