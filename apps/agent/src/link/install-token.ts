import { join } from 'node:path'
import { readIfThere, removeDurably } from '../files/durable-file.ts'

/**
 * The install token as the install script leaves it: a file in the agent's own directory, so that neither a process list nor `docker
 * inspect` shows it. It is deleted when it is exchanged or no longer of use.
 */
export interface InstallTokenFile {
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
