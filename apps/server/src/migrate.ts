import { migrate } from '@crux/postgres'
import { migrationsDirectory } from './places.ts'

/** Brings the product's tables up to date. Several servers may start at once. Resolves with the name of the newest migration. */
export const migrateServer = (url: string): Promise<string | undefined> =>
  migrate({ url, directory: migrationsDirectory, schema: 'crux' })
