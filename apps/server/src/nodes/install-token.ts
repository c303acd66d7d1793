import { CruxError } from '@crux/contract'
import { hashToken, makeToken } from '../access/index.ts'
import type { App } from '../context.ts'
import type { InstallOptions } from '../db/schema/nodes.ts'
import { upsertInstall } from './store.ts'

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
  const now = new Date()
  const install = await upsertInstall(app, {
    nodeId,
    tokenHash: hashToken(token),
    token: app.cipher.encrypt(token, { column: 'node_install.token', row: nodeId }),
    scriptType: script.scriptType,
    options: script.options,
    createdBy: userId,
    createdAt: now,
    expiresAt: new Date(now.getTime() + installLifeMs),
    exchangedAt: null,
  })
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
