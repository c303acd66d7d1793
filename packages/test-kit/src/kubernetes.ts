import { execFile } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { getProvided, provideForRun } from '@crux/service-kit/test-run'

const run = promisify(execFile)
/** Ten seconds on a quiet machine; other tests that run meanwhile may need all of it. */
const upSeconds = 240

const kubeconfigVariable = 'CRUX_TEST_KUBECONFIG'
const equipmentVariable = 'CRUX_KUBERNETES'
const providerVariable = 'CRUX_TEST_KUBERNETES'

/** The program that builds and starts a single-node cluster. It is not part of the project: it needs root, and minutes for its build. */
const program = join(
  process.env[equipmentVariable] ?? fileURLToPath(new URL('../../../../shared/kubernetes', import.meta.url)),
  'cluster',
)
const built =
  process.env.CLUSTER_BIN ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'crux-test/kubernetes')
/** Programs that are used instead of those of this machine while a cluster runs. */
const tolerantPrograms = fileURLToPath(new URL('../kubernetes', import.meta.url))

/** The reason why tests with a real Kubernetes are skipped here; undefined where they run. */
export function kubernetesMissing(): string | undefined {
  if (process.env[kubeconfigVariable]) return undefined
  if (!existsSync(program))
    return `needs a Kubernetes: ${kubeconfigVariable} with the path of a kubeconfig, or ${equipmentVariable} with the directory of the program that starts one`
  if (!existsSync(join(built, 'kubernetes')) || !existsSync(join(built, 'busybox.tar')))
    return `needs a built Kubernetes: run "${program} build", which takes 6 to 13 minutes once`
  if (process.getuid?.() !== 0) return 'needs root to start a Kubernetes'
  if (!existsSync('/sys/fs/cgroup/memory')) return 'needs cgroup v1 to start a Kubernetes'
  return undefined
}

/**
 * Provides the Kubernetes of a test run to this process and its children, which find it by their environment. It starts when the first of
 * them asks for it, and ends with the run. CRUX_TEST_KUBECONFIG replaces it.
 */
export async function provideKubernetes(): Promise<{ stop(): Promise<void> }> {
  if (process.env[kubeconfigVariable]) return { stop: async () => undefined }
  return provideForRun(providerVariable, async () => {
    const { kubeconfig, stop } = await startOwn()
    return { text: kubeconfig, stop }
  })
}

/**
 * A cluster for one test, whose only machine and registries the test controls. CRUX_TEST_KUBECONFIG replaces it if the same program started
 * that one. Callers check `kubernetesMissing` first.
 */
export async function startOwnKubernetes() {
  const given = process.env[kubeconfigVariable]
  const { kubeconfig, stop } = given ? { kubeconfig: given, stop: async () => undefined } : await startOwn()
  const kubectl = join(built, 'kubectl')
  return {
    kubeconfig,
    kubectl,
    stop,
    async run(...args: string[]): Promise<string> {
      return (await run(kubectl, ['--kubeconfig', kubeconfig, ...args], { maxBuffer: 16_777_216 })).stdout
    },
    ...(await openMachine(dirname(kubeconfig))),
  }
}

/** The machine of a cluster that the program started; undefined for a cluster of another origin. */
export async function findKubernetesMachine(kubeconfig: string): Promise<KubernetesMachine | undefined> {
  const directory = dirname(kubeconfig)
  return existsSync(program) && existsSync(join(directory, 'pid')) ? openMachine(directory) : undefined
}

export type KubernetesMachine = Awaited<ReturnType<typeof openMachine>>

async function openMachine(directory: string) {
  return {
    /** The address of this machine for pods. */
    gateway: `${(await readFile(join(directory, 'net'), 'utf8')).trim()}.0.1`,
    /** Loads an image in `docker save` form on the machine of the cluster. */
    async load(archive: string): Promise<void> {
      const { child } = run(program, ['load', directory])
      createReadStream(archive).pipe(child.stdin ?? process.stdout)
      const [code] = await once(child, 'close')
      if (code !== 0) throw new Error(`the cluster did not load ${archive}`)
    },
    /** Lets the machine of the cluster pull from a registry whose certificate this authority signed. */
    async trustRegistry(host: string, caFile: string): Promise<void> {
      const place = join(directory, 'etc/registry', host)
      await mkdir(place, { recursive: true })
      await writeFile(
        join(place, 'hosts.toml'),
        `server = "https://${host}"\n[host."https://${host}"]\n  capabilities = ["pull", "resolve"]\n  ca = "${caFile}"\n`,
      )
    },
  }
}

async function startOwn(): Promise<{ kubeconfig: string; stop(): Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'crux-kubernetes-'))
  const stop = async () => {
    await run(program, ['down', directory])
    await rm(directory, { recursive: true, force: true })
  }
  try {
    const network = process.env.CLUSTER_NET ?? (await findFreeNetwork())
    const { stdout } = await run(program, ['up', directory], {
      env: {
        ...process.env,
        PATH: `${tolerantPrograms}:${process.env.PATH}`,
        CLUSTER_NET: network,
        CLUSTER_WAIT: String(upSeconds),
        // Its programs, many of which are short, need a twentieth less CPU time without garbage collection.
        GOGC: 'off',
        GOMEMLIMIT: '512MiB',
      },
      timeout: (upSeconds + 30) * 1_000,
    })
    return { kubeconfig: stdout.trim().split('\n').at(-1) ?? '', stop }
  } catch (error) {
    await stop().catch(() => undefined)
    throw error
  }
}

/**
 * The first two bytes of addresses that no route of this machine has: networks of Docker lie where the program would look for its own.
 * Runs at the same time choose by chance, so that they rarely choose the same.
 */
async function findFreeNetwork(): Promise<string> {
  const routes = await readFile('/proc/net/route', 'utf8')
  // An address is written as a number in the byte order of this machine: "0000C80A" is 10.200.0.0.
  const taken = new Set(
    [...routes.matchAll(/^\S+\t[0-9A-F]{4}([0-9A-F]{2})0A\t/gm)].map(([, byte = '']) => Number.parseInt(byte, 16)),
  )
  const free = Array.from({ length: 90 }, (_, index) => 100 + index).filter((byte) => !taken.has(byte))
  return `10.${free[randomInt(free.length)]}`
}

/**
 * Makes a loopback port of the cluster's node lead to the same port of this machine, so that the node pulls from a registry here.
 *
 * @returns false for a cluster of another origin, whose nodes cannot be led anywhere
 */
export async function forwardToKubernetes(kubeconfig: string, port: number): Promise<boolean> {
  const directory = dirname(kubeconfig)
  if (!existsSync(program) || !existsSync(join(directory, 'pid'))) return false
  await run(program, ['forward', directory, String(port)])
  return true
}

/** The image that every node of the cluster of tests has: busybox with a shell. */
export const kubernetesImage = 'localhost/busybox:1'

/**
 * The cluster of this test run. Callers check `kubernetesMissing` first, use only namespaces that begin with the prefix, and delete them.
 *
 * @returns the kubeconfig of an administrator
 */
export async function startKubernetes(): Promise<{ kubeconfig: string; namespacePrefix: string }> {
  const namespacePrefix = `crux-${randomBytes(4).toString('hex')}`
  const given = process.env[kubeconfigVariable]
  if (given) return { kubeconfig: given, namespacePrefix }
  return { kubeconfig: await getProvided(providerVariable, 'Kubernetes'), namespacePrefix }
}
