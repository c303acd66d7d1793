import { migrate } from '@crux/postgres'
import { migrationsDirectory } from './places.ts'

/** Migrates the product's tables. Several servers may start at once. Resolves with the name of the newest migration. */
export const migrateServer = (url: string): Promise<string | undefined> =>
  migrate({ url, directory: migrationsDirectory, schema: 'crux' })
