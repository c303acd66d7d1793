import type { Queries } from './transaction.ts'

/** The id of a row that is about to be inserted, for what has to name the row before it exists. */
export async function newId(queries: Queries): Promise<string> {
  const { rows } = await queries.query<{ id: string }>('select uuidv7() as id')
  if (!rows[0]) throw new Error('the database made no id')
  return rows[0].id
}
