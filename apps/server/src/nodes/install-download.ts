import { CruxError } from '@crux/contract'
import { bearerToken, hashToken } from '../access/index.ts'
import type { App } from '../context.ts'
import { kubernetesScript } from './install-kubernetes.ts'
import { installScript } from './install-script.ts'
import { clusterValues, scriptValues } from './install-values.ts'
import { findInstallByToken } from './store.ts'

type Download = { params: { teamSlug: string; nodeId: string }; headers: Record<string, string | string[] | undefined> }

/**
 * The install script of a download's token. The exchange of the token invalidates it, the download does not.
 *
 * @throws CruxError unauthorized for a wrong, used or expired token and for a node that does not exist alike
 */
export async function authoriseDownload(app: App, { params, headers }: Download) {
  const token = bearerToken(headers.authorization)
  const found = token && (await findInstallByToken(app, { ...params, tokenHash: hashToken(token) }))
  if (!found) {
    throw new CruxError('unauthorized', {
      property: 'token',
      description: 'This install token is not valid or has expired: generate a new script.',
    })
  }
  return { ...found, token }
}

export async function downloadScript(app: App, download: Download): Promise<string> {
  const { node, install, token } = await authoriseDownload(app, download)
  return node.type === 'k8s'
    ? kubernetesScript(clusterValues(app.config, node, { token, install }))
    : installScript(install.scriptType, scriptValues(app.config, node, token, install.options))
}
