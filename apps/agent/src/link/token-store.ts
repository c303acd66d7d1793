import { join } from 'node:path'
import { z } from 'zod'
import { readIfThere, removeDurably, writeDurably } from '../files/durable-file.ts'
import { parseJson } from '../files/parse-json.ts'

const StoredToken = z.object({
  server: z.string(),
  nodeId: z.string(),
  token: z.string(),
  /** A token that the server issued and that is not confirmed yet; until it is, either token may be the valid one. */
  next: z.string().optional(),
})
export type StoredToken = z.output<typeof StoredToken>

export interface TokenStore {
  read(): Promise<StoredToken | undefined>
  write(token: StoredToken): Promise<void>
  forget(): Promise<void>
}

export function openTokenStore(directory: string): TokenStore {
  const path = join(directory, 'token.json')
  return {
    async read() {
      return parseJson(StoredToken, await readIfThere(path))
    },
    write: (token) => writeDurably(path, `${JSON.stringify(token)}\n`),
    forget: () => removeDurably(path),
  }
}

/**
 * The install token as the install script leaves it: a file in the agent's own directory, so that neither a process list nor `docker
 * inspect` shows it. It is deleted when it is exchanged or no longer of use.
 */
interface InstallTokenFile {
  read(): Promise<string | undefined>
  remove(): Promise<void>
}

export function openInstallTokenFile(directory: string): InstallTokenFile {
  const path = join(directory, 'install-token')
  return {
    async read() {
      const token = (await readIfThere(path))?.trim()
      return token?.startsWith('crux_') ? token : undefined
    },
    remove: () => removeDurably(path),
  }
}
