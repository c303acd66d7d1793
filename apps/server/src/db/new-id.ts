import { type Queries, sql } from './queries.ts'

/** The id of a row that will be inserted, for data that has to refer to the row before it exists. */
export const newId = async (queries: Queries): Promise<string> =>
  (await sql`select uuidv7() as id`.one<{ id: string }>(queries)).id
