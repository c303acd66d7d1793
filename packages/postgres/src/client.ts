import { createHash } from 'node:crypto'
import { Client } from 'pg'

/** Runs work on a connection of its own, which also releases the locks of its session. */
export async function withClient<T>(url: string, name: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url, application_name: name })
  // Without a listener, a connection that is lost between two statements would end the process instead of rejecting the next one.
  client.on('error', () => undefined)
  await client.connect()
  try {
    await client.query('set client_min_messages to warning')
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Waits for the lock of a name. 48 bits of its hash fit a bigint parameter and a JavaScript number. */
export async function lockName(client: Client, name: string): Promise<void> {
  const key = createHash('sha256').update(name).digest().readUIntBE(0, 6)
  await client.query('select pg_advisory_lock($1)', [key])
}
