import { readFile, rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * Bundles the agent into a directory, which is emptied first: `agent.mjs`, `prepare.mjs`, beside them the parts that are loaded only when they
 * are needed, and `gate.mjs`, which is one file for itself: a gate that runs already may get it from elsewhere.
 *
 * @param given another version than that of the package, for tests
 * @returns the directory
 */
export async function buildAgent(outdir = `${root}dist/bundle`, given?: string): Promise<string> {
  const version = given ?? (await readVersion())
  await rm(outdir, { recursive: true, force: true })
  const options: BuildOptions = {
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    legalComments: 'none',
    logLevel: 'warning',
  }
  await build({
    ...options,
    entryPoints: { agent: `${root}src/main.ts`, prepare: `${root}src/prepare/main.ts` },
    splitting: true,
    minifySyntax: true,
    minifyWhitespace: true,
    define: { __CRUX_AGENT_VERSION__: JSON.stringify(version), 'process.env.NODE_ENV': '"production"' },
    // CommonJS dependencies ask for Node's own modules through require.
    banner: {
      js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
    },
    plugins: [
      {
        name: 'unused-transports',
        setup(builder) {
          // docker-modem can reach an engine over SSH and dockerode can build images over BuildKit; this agent does
          // neither, and their libraries would cost tens of megabytes of memory.
          const unused = /docker-modem\/lib\/ssh\.js$|dockerode\/lib\/(session|buildkit)\.js$/
          builder.onLoad({ filter: unused }, ({ path }) => ({
            contents: `module.exports = () => { throw new Error(${JSON.stringify(`${path.split('/').slice(-3).join('/')} is not part of the agent`)}) }`,
          }))
          // The library of Kubernetes reads the access to a cluster; its generated calls, which this agent does not use, would cost 10 MB.
          builder.onLoad({ filter: /@kubernetes\/client-node\/dist\/gen\/index\.js$/ }, () => ({
            contents: `export const createConfiguration = () => { throw new Error('the calls of Kubernetes are not part of the agent') }
              export class ServerConfiguration {}`,
          }))
        },
      },
    ],
  })
  await build({ ...options, entryPoints: { gate: `${root}src/engines/docker/gate/relay/main.ts` } })
  return outdir
}

export async function readVersion(): Promise<string> {
  const { version }: { version: string } = JSON.parse(await readFile(`${root}package.json`, 'utf8'))
  return version
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(`${await buildAgent()}\n`)
