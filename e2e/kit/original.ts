import { existsSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'

/** Where an Ory Kratos may be had: what the environment names, or beside the checkout. */
const folders = [process.env.CRUX_KRATOS, resolve(import.meta.dirname, '../../../shared/kratos')]

/** The folder with the script `kratos`, which builds the original with Go and serves it; or why there is none. */
export function findOriginal(): { folder: string } | { reason: string } {
  const folder = folders.find((path) => path !== undefined && existsSync(join(path, 'kratos')))
  if (folder === undefined) return { reason: 'there is no Ory Kratos here: CRUX_KRATOS names the folder of one' }
  if (!isOnPath('go')) return { reason: 'there is no Go here, with which Ory Kratos is built' }
  return { folder }
}

const isOnPath = (command: string): boolean =>
  (process.env.PATH ?? '').split(delimiter).some((directory) => existsSync(join(directory, command)))
