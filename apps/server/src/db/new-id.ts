import type { Queries } from './transaction.ts'

/** The id of a row that will be inserted, for data that has to refer to the row before it exists. */
export async function newId(queries: Queries): Promise<string> {
  const { rows } = await queries.query<{ id: string }>('select uuidv7() as id')
  if (!rows[0]) throw new Error('the database made no id')
  return rows[0].id
}
