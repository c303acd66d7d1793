import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { access, mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Pack, pack } from 'tar-stream'
import { buildAgent, readVersion } from './build.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const certificates = '/etc/ssl/certs/ca-certificates.crt'

/** What `docker save` calls the machine. */
const architectures: Record<string, string> = { x64: 'amd64', arm64: 'arm64' }
const imageArchitecture = architectures[process.arch] ?? process.arch

/**
 * Writes the agent's image in `docker save` form, which every engine loads (an OCI layout Docker 20.10 does not): Node,
 * the shared libraries that it needs, CA certificates, the bundle. No engine is needed, and the same input gives the same
 * bytes.
 *
 * @param given another version than that of the package, for tests
 * @returns path of the archive and the name that the image has after `docker load`
 */
export async function buildAgentImage(
  dist = `${root}dist`,
  given?: string,
): Promise<{ path: string; reference: string }> {
  const version = given ?? (await readVersion())
  const bundle = await buildAgent(join(dist, 'bundle'), version)
  const reference = `crux/agent:${version}-${imageArchitecture}`
  const path = join(dist, 'agent-image.tar')
  await mkdir(dist, { recursive: true })

  const layer = await createTar(async (archive) => {
    for (const directory of ['tmp', 'srv', 'srv/crux'])
      archive.entry({ name: directory, type: 'directory', mode: directory === 'tmp' ? 0o1777 : 0o755, mtime: epoch })
    for (const file of await nodeRuntimeFiles()) await addFile(archive, file.path, file.source, 0o755)
    if (await exists(certificates)) await addFile(archive, certificates, certificates, 0o644)
    for (const name of (await readdir(bundle)).sort())
      await addFile(archive, `/agent/${name}`, join(bundle, name), 0o644)
    archive.entry({ name: 'etc/passwd', mode: 0o644, mtime: epoch }, 'root:x:0:0:root:/:/agent\n')
  })
  const layerId = sha256(layer)
  const config = JSON.stringify({
    architecture: imageArchitecture,
    os: 'linux',
    created: epoch.toISOString(),
    config: {
      Entrypoint: ['/bin/node', ...memoryFlags, '/agent/agent.mjs'],
      Env: [
        'PATH=/bin',
        'NODE_ENV=production',
        'CRUX_DATA_DIR=/srv/crux',
        // Without it each thread that ever ran keeps memory that nobody uses any more.
        'MALLOC_ARENA_MAX=1',
        `SSL_CERT_FILE=${certificates}`,
      ],
      WorkingDir: '/',
      Labels: { 'dev.crux.service-category': '_internal', 'org.opencontainers.image.version': version },
    },
    rootfs: { type: 'layers', diff_ids: [`sha256:${layerId}`] },
    history: [{ created: epoch.toISOString(), created_by: 'crux build-image' }],
  })
  const configName = `${sha256(Buffer.from(config))}.json`
  const image = pack()
  const written = pipeline(image, createWriteStream(path))
  image.entry({ name: configName, mtime: epoch }, config)
  image.entry({ name: `${layerId}/layer.tar`, mtime: epoch }, layer)
  image.entry(
    { name: 'manifest.json', mtime: epoch },
    JSON.stringify([{ Config: configName, RepoTags: [reference], Layers: [`${layerId}/layer.tar`] }]),
  )
  image.finalize()
  await written
  return { path, reference }
}

/** As the server gives them to its own agent (nodes/local-agent-process.ts): the agent holds little for long and shares the machine. */
const memoryFlags = ['--max-semi-space-size=1', '--optimize-for-size']
const epoch = new Date(0)

async function createTar(fill: (archive: Pack) => Promise<void>): Promise<Buffer> {
  const archive = pack()
  const collected = buffer(archive)
  await fill(archive)
  archive.finalize()
  return collected
}

async function addFile(archive: Pack, path: string, source: string, mode: number): Promise<void> {
  const content = await readFile(source)
  await new Promise<void>((resolve, reject) =>
    archive.entry({ name: path.replace(/^\//, ''), mode, mtime: epoch }, content, (error) =>
      error ? reject(error) : resolve(),
    ),
  )
}

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [dist, version] = process.argv.slice(2)
  const { path, reference } = await buildAgentImage(dist, version)
  process.stdout.write(`${path} ${reference}\n`)
}

interface RuntimeFile {
  /** Path inside the image. */
  path: string
  /** Path on this machine. */
  source: string
}

/** The files that Node needs in an image without a distribution: itself, the libraries that `ldd` names, and the loader. */
export async function nodeRuntimeFiles(node: string = process.execPath): Promise<RuntimeFile[]> {
  const { stdout } = await promisify(execFile)('ldd', [node])
  const libraries = stdout
    .split('\n')
    .map((line) => /(?:=>\s+)?(\/\S+)\s+\(0x/.exec(line)?.[1])
    .filter((path) => path !== undefined)
  return [{ path: '/bin/node', source: node }, ...libraries.map((path) => ({ path, source: path }))]
}
