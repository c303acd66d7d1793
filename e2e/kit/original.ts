import { existsSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { test } from '@playwright/test'

/** Where an Ory Kratos may be had: what the environment names, or beside the checkout. */
const directories = [process.env.CRUX_KRATOS, resolve(import.meta.dirname, '../../../shared/kratos')]

/**
 * Skips the tests of a file, with the reason, where there is no original to test against.
 *
 * @returns the folder with the script `kratos`, which builds the original with Go and serves it
 */
export function useOriginal(): string {
  const directory = directories.find((path) => path !== undefined && existsSync(join(path, 'kratos')))
  test.skip(directory === undefined, 'there is no Ory Kratos here: CRUX_KRATOS names the folder of one')
  test.skip(!isOnPath('go'), 'there is no Go here, with which Ory Kratos is built')
  return directory ?? ''
}

const isOnPath = (command: string): boolean =>
  (process.env.PATH ?? '').split(delimiter).some((directory) => existsSync(join(directory, command)))
