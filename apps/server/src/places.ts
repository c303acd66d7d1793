import { fileURLToPath } from 'node:url'

/**
 * Folders beside this code. The file stands directly in `src`, as the built server stands directly in `dist`: the same relative
 * paths hold for both.
 */
export const migrationsDirectory = fileURLToPath(new URL('../migrations', import.meta.url))
export const consoleDirectory = fileURLToPath(new URL('../../console/dist', import.meta.url))
export const agentDirectory = fileURLToPath(new URL('../../agent', import.meta.url))
