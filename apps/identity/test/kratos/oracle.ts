import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { provideTestCluster, testDatabase } from '@crux/postgres'
import { Client } from 'pg'
import { Browser } from '../browser.ts'
import { consoleUrl } from '../console-url.ts'
import { startMailServer } from '../mail-server.ts'
import type { Clock } from './clock.ts'
import type { Service } from './service.ts'

/**
 * A real Ory Kratos with a database of its own, whose mail is sent to this process.
 *
 * @param directory contains `kratos`, the script that builds and runs it: `kratos serve DSN PUBLIC_PORT ADMIN_PORT`
 */
export async function startOracle(directory: string): Promise<Service & { stop(): Promise<void> }> {
  const cluster = await provideTestCluster()
  const database = await testDatabase({ key: 'oracle', migrate: async () => undefined })
  const mails = await startMailServer()
  const [publicPort, adminPort] = [await freePort(), await freePort()]
  const server = spawn(join(directory, 'kratos'), ['serve', database.url, String(publicPort), String(adminPort)], {
    env: {
      ...process.env,
      KRATOS_UI: consoleUrl,
      KRATOS_PUBLIC_URL: `${consoleUrl}/kratos`,
      KRATOS_SMTP: `smtp://127.0.0.1:${mails.port}/?disable_starttls=true`,
      LOG_LEVEL: 'fatal',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = new Promise<never>((_resolve, reject) => {
    server.once('exit', (code) => reject(new Error(`Kratos ended with ${code}`)))
    server.once('error', reject)
  })
  ended.catch(() => undefined)
  const publicUrl = `http://127.0.0.1:${publicPort}`
  await Promise.race([ended, untilReady(publicUrl)])
  const client = new Client({ connectionString: database.url })
  await client.connect()
  return {
    publicUrl,
    mails,
    browser: (headers) => new Browser(publicUrl, headers),
    admin: () => new Browser(`http://127.0.0.1:${adminPort}`),
    clock: oracleClock(client),
    async stop() {
      server.removeAllListeners('exit')
      const gone = new Promise((resolve) => server.once('exit', resolve))
      server.kill('SIGTERM')
      await gone
      await client.end()
      await mails.close()
      await database.drop()
      await cluster.stop()
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function untilReady(publicUrl: string): Promise<void> {
  for (;;) {
    const ready = await fetch(`${publicUrl}/health/ready`).catch(() => undefined)
    await ready?.body?.cancel()
    if (ready?.ok) return
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

/** Its clock cannot be set, but its stored times can. */
function oracleClock(client: Client): Clock {
  return {
    async expireFlow(kind, id) {
      await client.query(
        `update selfservice_${kind}_flows set expires_at = now() - interval '1 minute' where id = $1`,
        [id],
      )
    },
    async expireCodes(kind, id) {
      await client.query(
        `update identity_${kind}_codes set expires_at = now() - interval '1 minute' where selfservice_${kind}_flow_id = $1`,
        [id],
      )
    },
    async expireSession(id) {
      await client.query(`update sessions set expires_at = now() - interval '1 minute' where id = $1`, [id])
    },
    async ageSession(id) {
      await client.query(`update sessions set authenticated_at = now() - interval '1 hour' where id = $1`, [id])
    },
  }
}
