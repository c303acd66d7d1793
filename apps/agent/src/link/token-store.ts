import { z } from 'zod'
import { parseJson } from '../files/parse-json.ts'
import type { Records } from '../state/agent-state.ts'

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

export function openTokenStore(records: Records): TokenStore {
  return {
    async read() {
      return parseJson(StoredToken, await records.read('token.json'))
    },
    write: (token) => records.write('token.json', `${JSON.stringify(token)}\n`),
    forget: () => records.remove('token.json'),
  }
}

/**
 * The install token as the installation leaves it: a record of the agent's own, so that neither a process list nor a description of the
 * container shows it. It is deleted when it is exchanged or no longer of use.
 */
interface StoredInstallToken {
  read(): Promise<string | undefined>
  remove(): Promise<void>
}

export function openInstallToken(records: Records): StoredInstallToken {
  return {
    async read() {
      const token = (await records.read('install-token'))?.trim()
      return token?.startsWith('crux_') ? token : undefined
    },
    remove: () => records.remove('install-token'),
  }
}
