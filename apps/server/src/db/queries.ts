import { setImmediate } from 'node:timers/promises'
import type { Database } from '@crux/postgres'
import { getField } from '@crux/service-kit'
import type { CustomTypesConfig, PoolClient, QueryConfig, QueryResultRow } from 'pg'

/** What runs statements: the pool, or the client of a transaction. */
export type Queries = Pick<PoolClient, 'query'>

/** The code of PostgreSQL for statements after one that has failed. */
const inFailedTransaction = '25P02'

/** A statement, or a part of one. */
export class Sql {
  /** The text between the values, one piece more than there are values. */
  private readonly pieces: readonly string[]
  private readonly values: readonly unknown[]

  constructor(pieces: readonly string[], values: readonly unknown[]) {
    this.pieces = pieces
    this.values = values
  }

  /** The statement for the driver. With a name it stays prepared in each connection; the name belongs to one text. */
  config(name?: string, types?: CustomTypesConfig): QueryConfig {
    const text = this.pieces.map((piece, index) => (index === 0 ? piece : `$${index}${piece}`)).join('')
    return { text, values: [...this.values], ...(name && { name }), ...(types && { types }) }
  }

  // Nothing is awaited before it sends, so that statements that are issued together keep their order.
  private async send<R extends QueryResultRow>(queries: Queries, name?: string, types?: CustomTypesConfig) {
    try {
      return await queries.query<R>(this.config(name, types))
    } catch (error) {
      // It failed only because a statement before it had failed, whose error is the one to report.
      if (getField(error, 'code') === inFailedTransaction) await setImmediate()
      throw error
    }
  }

  async rows<R extends QueryResultRow>(queries: Queries, name?: string, types?: CustomTypesConfig): Promise<R[]> {
    return (await this.send<R>(queries, name, types)).rows
  }

  /** The first row, for statements that find one or none. */
  async first<R extends QueryResultRow>(
    queries: Queries,
    name?: string,
    types?: CustomTypesConfig,
  ): Promise<R | undefined> {
    return (await this.rows<R>(queries, name, types))[0]
  }

  /** The row of a statement that always has one, such as an insert or a count. */
  async one<R extends QueryResultRow>(queries: Queries, name?: string): Promise<R> {
    const row = await this.first<R>(queries, name)
    if (!row) throw new Error(`no row came back from: ${this.pieces.join('?')}`)
    return row
  }

  /** The values of the only column. */
  async column<T = string>(queries: Queries, name?: string): Promise<T[]> {
    return (await this.rows<Record<string, T>>(queries, name)).flatMap((row) => Object.values(row))
  }

  /** The only column of the first row. */
  async value<T = string>(queries: Queries, name?: string): Promise<T | undefined> {
    return (await this.column<T>(queries, name))[0]
  }

  /** The generated id of an insert of one row. */
  async id(queries: Queries, name?: string): Promise<string> {
    return (await this.one<{ id: string }>(queries, name)).id
  }

  /** For lists with many readers, who share one query. Nobody may modify its rows. */
  shared<R extends QueryResultRow>(database: Pick<Database, 'sharedRead'>, name: string, types?: CustomTypesConfig) {
    return database.sharedRead<R>({
      ...this.config(name, types),
      name,
      values: this.values.map((value) => (typeof value === 'number' ? value : String(value))),
    })
  }

  /** @returns how many rows it found or changed */
  async execute(queries: Queries, name?: string): Promise<number> {
    return (await this.send(queries, name)).rowCount ?? 0
  }

  /** Interpolates this part into another one. */
  static join(pieces: readonly string[], values: readonly unknown[]): Sql {
    const [texts, parameters]: [string[], unknown[]] = [[pieces[0] ?? ''], []]
    values.forEach((value, index) => {
      const [first = '', ...rest] = value instanceof Sql ? value.pieces : ['', '']
      texts.push(`${texts.pop()}${first}`, ...rest)
      parameters.push(...(value instanceof Sql ? value.values : [value]))
      texts.push(`${texts.pop()}${pieces[index + 1]}`)
    })
    return new Sql(texts, parameters)
  }
}

/** A statement whose interpolated values are parameters, never text; parts that are `Sql` themselves become a part of it. */
export const sql = (pieces: TemplateStringsArray, ...values: unknown[]): Sql => Sql.join(pieces, values)

/** Text of our own code in a statement: columns, aliases, joins. Never a value from outside. */
export const raw = (text: string | number): Sql => new Sql([String(text)], [])

/** A part that is left out. */
export const nothing = raw('')

export const joined = (parts: readonly Sql[], separator: ' and ' | ' or '): Sql =>
  parts.reduce((all, part) => sql`${all}${raw(separator)}${part}`)

/** A pattern for `like` that matches texts which contain this one, whatever characters it has. */
export const containsPattern = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`
