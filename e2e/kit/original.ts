import { existsSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { test } from '@playwright/test'

/** The locations of an Ory Kratos: that of the environment variable, or beside the checkout. */
const directories = [process.env.CRUX_KRATOS, resolve(import.meta.dirname, '../../../shared/kratos')]

/**
 * Skips the tests of a file, with the reason, where no Ory Kratos is available.
 *
 * @returns the directory with the script `kratos`, which builds Ory Kratos with Go and runs it
 */
export function useOriginal(): string {
  const directory = directories.find((path) => path !== undefined && existsSync(join(path, 'kratos')))
  test.skip(directory === undefined, 'there is no Ory Kratos here: CRUX_KRATOS names the directory of one')
  test.skip(!isOnPath('go'), 'there is no Go here, with which Ory Kratos is built')
  return directory ?? ''
}

const isOnPath = (command: string): boolean =>
  (process.env.PATH ?? '').split(delimiter).some((directory) => existsSync(join(directory, command)))
