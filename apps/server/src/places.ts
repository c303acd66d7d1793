import { fileURLToPath } from 'node:url'

/**
 * Directories beside this code. The file is directly in `src`, as the built server is directly in `dist`, so that the
 * same relative paths are valid for both.
 */
export const migrationsDirectory = fileURLToPath(new URL('../migrations', import.meta.url))
export const templatesDirectory = fileURLToPath(new URL('../templates', import.meta.url))
export const consoleDirectory = fileURLToPath(new URL('../../console/dist', import.meta.url))
export const agentDirectory = fileURLToPath(new URL('../../agent', import.meta.url))
