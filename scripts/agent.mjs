import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readFlags } from './setup/flags.mjs'
import { ensureInstalled, fail, root } from './setup/install.mjs'
import { runUnderNode24 } from './setup/run.mjs'

const usage = `Runs an agent from the checkout: npm run agent -- --token TOKEN --data-dir FOLDER

  --token TOKEN      the node's install token (CRUX_TOKEN); needed the first time
  --data-dir FOLDER  the agent's files (CRUX_DATA_DIR)
  --url URL          the address of Crux (CRUX_URL, that of the Crux in this checkout)
  --node ID          the node's id (CRUX_NODE_ID)
  --kubeconfig FILE  serves a Kubernetes cluster instead of a Docker engine (CRUX_KUBECONFIG)
  --namespaces a,b   the only namespaces of the cluster that it reads and changes (CRUX_NAMESPACES)`

const flags = readFlags(
  {
    token: { type: 'string' },
    'data-dir': { type: 'string' },
    url: { type: 'string' },
    node: { type: 'string' },
    kubeconfig: { type: 'string' },
    namespaces: { type: 'string' },
  },
  usage,
)
const dataDir = flags['data-dir'] ?? process.env.CRUX_DATA_DIR
if (!dataDir) fail(`--data-dir is missing.\n\n${usage}`)
ensureInstalled()

const token = flags.token ?? process.env.CRUX_TOKEN
const node = flags.node ?? process.env.CRUX_NODE_ID
const namespaces = flags.namespaces ?? process.env.CRUX_NAMESPACES
const stateNamespace = process.env.CRUX_STATE_NAMESPACE
const kubeconfig = flags.kubeconfig ?? process.env.CRUX_KUBECONFIG
const { code } = await runUnderNode24('src/main.ts', [], {
  cwd: join(root, 'apps/agent'),
  env: {
    CRUX_URL: flags.url ?? process.env.CRUX_URL ?? localUrl(),
    CRUX_DATA_DIR: resolve(dataDir),
    ...(token ? { CRUX_TOKEN: token } : {}),
    ...(node ? { CRUX_NODE_ID: node } : {}),
    ...(kubeconfig ? { CRUX_KUBECONFIG: resolve(kubeconfig) } : {}),
    ...(namespaces ? { CRUX_NAMESPACES: namespaces } : {}),
    ...(stateNamespace ? { CRUX_STATE_NAMESPACE: stateNamespace } : {}),
  },
})
process.exit(code)

/** The port that `npm start` chose here. */
function localUrl() {
  const file = join(root, '.crux/ports.json')
  const port = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).CRUX_PORT : undefined
  return `http://localhost:${port ?? 8000}`
}
