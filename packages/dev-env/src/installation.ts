import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { claimOwnership, OwnedError, startEmbedded } from '@crux/postgres/embedded'
import type { Logger } from '@crux/service-kit'
import { deprecatedKeyName, encryptionKeyName, getScheme, processEnvironment, publicUrl } from './environment.ts'
import { readJson, writeSecret } from './files.ts'

export interface Installation {
  /** The environment that the server would get. */
  env: NodeJS.ProcessEnv
  close(): Promise<void>
}

/**
 * Opens a data directory for maintenance: its secrets and its database, which is started temporarily when Crux does not run.
 *
 * @param options.inherit settings of the caller, such as DATABASE_URL
 */
export async function openInstallation(options: {
  dataDir: string
  inherit: NodeJS.ProcessEnv
  log: Logger
}): Promise<Installation> {
  const { dataDir, inherit } = options
  if (!existsSync(join(dataDir, 'secrets')))
    throw new Error(`there is no Crux in ${dataDir}; start it once with npm start`)
  const database = await reachDatabase(dataDir, options.log)
  const ports = readJson<Record<string, number>>(join(dataDir, 'ports.json'))
  const host = inherit.CRUX_HOST || '127.0.0.1'
  const port = Number(inherit.CRUX_PORT) || (ports.CRUX_PORT ?? 8000)
  const addresses = {
    host,
    port,
    identityPublicPort: Number(inherit.IDENTITY_PUBLIC_PORT) || (ports.IDENTITY_PUBLIC_PORT ?? 4433),
    identityAdminPort: Number(inherit.IDENTITY_ADMIN_PORT) || (ports.IDENTITY_ADMIN_PORT ?? 4434),
    url: publicUrl(inherit.CRUX_URL, host, port, getScheme(inherit)),
  }
  const { server } = processEnvironment({ dataDir, databaseUrl: database.url, addresses, given: inherit })
  return { env: server, close: database.close }
}

async function reachDatabase(dataDir: string, log: Logger): Promise<{ url: string; close(): Promise<void> }> {
  try {
    const embedded = await startEmbedded({ dataDir, log })
    return { url: embedded.url, close: () => embedded.stop() }
  } catch (error) {
    if (!(error instanceof OwnedError)) throw error
    // Crux is running, so its database is used.
    return { url: readFileSync(join(dataDir, 'secrets/database-url'), 'utf8').trim(), close: async () => undefined }
  }
}

/**
 * Replaces the encryption key in the data directory and keeps the old one beside it until `done`. An interrupted rotation continues with the existing
 * keys. Call it before `openInstallation`.
 *
 * @throws OwnedError while Crux runs, because it has to start with the new key
 */
export function renewEncryptionKey(dataDir: string): { done(): void; release(): void } {
  const ownership = claimOwnership({ file: join(dataDir, 'owner'), what: `Crux in ${dataDir}` })
  const current = join(dataDir, 'secrets', encryptionKeyName)
  const deprecated = join(dataDir, 'secrets', deprecatedKeyName)
  if (!existsSync(deprecated)) {
    // This order ensures that the key of the existing secrets is never lost, wherever the process is interrupted.
    writeSecret(deprecated, readFileSync(current, 'utf8'))
    writeSecret(current, randomBytes(32).toString('base64url'))
  }
  return { done: () => rmSync(deprecated, { force: true }), release: () => ownership.release() }
}
