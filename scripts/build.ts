import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { BuildError, type Part, root } from './build-in-child.ts'
import { bundleService } from './bundle.ts'

interface Recipe {
  /** The files and directories that the result depends on. */
  inputs: string[]
  output: string
  build: () => void | Promise<void>
  /** Crux starts without it and reports what is missing. */
  optional?: boolean
}

const shared = ['package-lock.json', 'scripts/build.ts', 'scripts/bundle.ts']
const agentInputs = [
  ...shared,
  ...inApp('agent', 'src', 'scripts'),
  ...inPackages('contract', 'rules', 'agent-protocol', 'service-kit'),
]
const recipes: Record<Part, Recipe> = {
  console: {
    inputs: [
      ...shared,
      'scripts/precompress.ts',
      ...inApp('console', 'src', 'public', 'index.html', 'vite.config.ts'),
      ...inPackages('contract', 'rules', 'client', 'config-editor'),
    ],
    output: 'apps/console/dist/index.html',
    build: () => {
      runNode('apps/console', ['../../node_modules/vite/bin/vite.js', 'build', '--logLevel', 'warn'])
      precompress(join(root, 'apps/console/dist'))
    },
  },
  identity: {
    inputs: [...shared, ...inApp('identity', 'src'), ...inPackages('postgres', 'service-kit')],
    output: 'apps/identity/dist/main.js',
    build: () => bundleService(root, 'identity'),
  },
  server: {
    inputs: [
      ...shared,
      ...inApp('server', 'src'),
      ...inPackages('contract', 'rules', 'agent-protocol', 'postgres', 'service-kit'),
    ],
    output: 'apps/server/dist/main.js',
    build: () => bundleService(root, 'server'),
  },
  agent: {
    inputs: agentInputs,
    output: 'apps/agent/dist/bundle/agent.mjs',
    build: () => runNode('apps/agent', ['scripts/build.ts']),
    optional: true,
  },
  'agent-image': {
    inputs: agentInputs,
    output: 'apps/agent/dist/agent-image.tar',
    build: () => runNode('apps/agent', ['scripts/build-image.ts']),
    optional: true,
  },
}

export const parts = Object.keys(recipes) as Part[]
export const isPart = (word: string): word is Part => parts.some((part) => part === word)

/** Builds parts that are missing or whose sources have changed, by comparing their content. */
export async function buildAll(options: { parts: readonly Part[]; say: (words: string) => void }): Promise<void> {
  for (const part of options.parts) {
    const recipe = recipes[part]
    const stamp = join(root, '.cache/build', part)
    const wanted = toHash(recipe.inputs)
    if (existsSync(join(root, recipe.output)) && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) continue
    options.say(`Building ${part.replace('-', ' ')} ...`)
    rmSync(stamp, { force: true })
    try {
      await recipe.build()
      mkdirSync(dirname(stamp), { recursive: true })
      writeFileSync(stamp, wanted)
    } catch (error) {
      if (!recipe.optional) throw error
      options.say(
        `The ${part.replace('-', ' ')} could not be built, so nodes cannot get it from here: ${firstError(error instanceof Error ? error : new Error(String(error)))}`,
      )
    }
  }
}

/** The line with the name of the error; a start should not print a whole stack trace. */
function firstError(error: Error): string {
  const lines = error.message.split('\n')
  return lines.find((line) => /^\w*Error\b/.test(line)) ?? lines[0] ?? ''
}

function toHash(inputs: string[]): string {
  const hash = createHash('sha256').update(process.version)
  for (const input of inputs) {
    for (const file of listFiles(input)) hash.update(`\0${file}\0`).update(readFileSync(join(root, file)))
  }
  return hash.digest('hex')
}

function listFiles(path: string): string[] {
  const full = join(root, path)
  if (!existsSync(full)) return []
  const entries = tryReadDirectory(full)
  if (!entries) return [path]
  return entries
    .sort()
    .flatMap((name) => (/\.test\.tsx?$|^(node_modules|dist)$/.test(name) ? [] : listFiles(join(path, name))))
}

function tryReadDirectory(path: string): string[] | undefined {
  try {
    return readdirSync(path)
  } catch {
    return undefined
  }
}

function inApp(app: string, ...paths: string[]): string[] {
  return ['package.json', ...paths].map((path) => `apps/${app}/${path}`)
}

function inPackages(...names: string[]): string[] {
  return names.flatMap((name) => [`packages/${name}/src`, `packages/${name}/package.json`])
}

function runNode(directory: string, args: string[]): void {
  const result = spawnSync(process.execPath, args, {
    cwd: join(root, directory),
    stdio: ['ignore', 'inherit', 'pipe'],
    encoding: 'utf8',
  })
  if (result.status !== 0) throw new BuildError(`${args.join(' ')} failed in ${directory}:\n${result.stderr}`)
}

const worthwhile = /\.(js|css|html|svg|json|txt)$/
const bytesMin = 1_024

/** Writes `.br` and `.gz` beside each text file of a directory, once per build, so that the server does not compress while it serves. */
function precompress(directory: string): void {
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !worthwhile.test(entry.name)) continue
    const path = join(entry.parentPath, entry.name)
    const bytes = readFileSync(path)
    if (bytes.length < bytesMin) continue
    writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }))
    writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }))
  }
}
