import { CruxError } from '@crux/contract'
import { sql } from 'drizzle-orm'
import { hashToken, makeToken } from '../access/index.ts'
import type { App } from '../context.ts'
import { nodeInstall } from '../db/schema/index.ts'
import type { InstallOptions } from '../db/schema/nodes.ts'

/** An install token is for single use, valid for ten minutes, and bound to the node. */
export const installLifeMs = 10 * 60 * 1_000

/**
 * Creates an install token that replaces the node's previous one. The hash verifies the token; the encrypted text lets
 * the page show the command again.
 */
export async function issueInstallToken(
  app: App,
  nodeId: string,
  userId: string,
  script: { scriptType: 'shell' | 'powershell'; options: InstallOptions },
) {
  const token = makeToken()
  const values = {
    tokenHash: hashToken(token),
    token: app.cipher.encrypt(token, { column: 'node_install.token', row: nodeId }),
    scriptType: script.scriptType,
    options: script.options,
    createdBy: userId,
    createdAt: sql`now()`,
    expiresAt: new Date(Date.now() + installLifeMs),
    exchangedAt: null,
  }
  const [install] = await app.database.db
    .insert(nodeInstall)
    .values({ nodeId, ...values })
    .onConflictDoUpdate({ target: nodeInstall.nodeId, set: values })
    .returning()
  if (!install) throw new Error('the install token was not stored')
  return { token, install }
}

/** @throws CruxError preconditionFailed `installer` when the stored token was changed, or the key that encrypted it is missing */
export function openInstallToken(app: Pick<App, 'cipher'>, install: { nodeId: string; token: string }): string {
  try {
    return app.cipher.decrypt(install.token, { column: 'node_install.token', row: install.nodeId })
  } catch (cause) {
    throw new CruxError('preconditionFailed', {
      property: 'installer',
      description: 'This install script cannot be shown any more: delete it and generate a new one.',
      cause,
    })
  }
}
