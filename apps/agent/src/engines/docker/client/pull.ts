import type Docker from 'dockerode'
import { EngineError } from '../../../errors.ts'
import type { RegistryCredentials } from '../../images/image-reference.ts'
import type { PullOrder } from '../containers/container-engine.ts'
import { translateRegistry } from './errors.ts'
import { toLines } from './lines.ts'

interface ProgressLine {
  id?: string
  status?: string
  error?: string
  progressDetail?: { current?: number; total?: number }
}

/** Pulls by digest, so that a tag that moves in the meantime changes nothing. */
export async function pullImage(docker: Docker, order: PullOrder): Promise<void> {
  const reference = `${order.image.name}@${order.digest}`
  const shown = `${order.image.name}:${order.image.tag}`
  try {
    // dockerode accepts an undefined first argument for "no credentials", its types do not.
    const auth = order.auth ? toAuth(order.auth) : {}
    const stream = await docker.createImage(auth, { fromImage: reference, abortSignal: order.signal })
    const layers = new LayerProgress()
    for await (const text of toLines(stream)) {
      const line: ProgressLine = JSON.parse(text)
      if (line.error) throw new EngineError('other', line.error)
      if (layers.take(line)) order.onProgress(layers.sum())
    }
    order.onProgress({ ...layers.sum(), status: 'Pull complete' })
  } catch (error) {
    if (order.signal.aborted) throw order.signal.reason
    throw translateRegistry(error, shown)
  }
}

/** Credentials in the form of the Engine API. */
export const toAuth = ({ username, password, serverAddress }: RegistryCredentials) => ({
  username,
  password,
  serveraddress: serverAddress,
})

/** Sums the bytes of all layers from the engine's lines about each. A layer's size is known when its download starts. */
export class LayerProgress {
  readonly #layers = new Map<string, { current: number; total: number }>()
  #status = 'Pulling'

  /** @returns whether the line changed the sum */
  take(line: ProgressLine): boolean {
    const { id, status, progressDetail } = line
    if (!id || !status) return false
    const layer = this.#layers.get(id) ?? { current: 0, total: 0 }
    if (status === 'Downloading') {
      layer.total = Math.max(layer.total, progressDetail?.total ?? 0)
      layer.current = Math.min(layer.total, progressDetail?.current ?? 0)
      this.#status = 'Pulling'
    } else if (status === 'Download complete' || status === 'Verifying Checksum' || status === 'Pull complete') {
      layer.current = layer.total
    } else if (status === 'Extracting') {
      layer.total = Math.max(layer.total, progressDetail?.total ?? 0)
      layer.current = layer.total
      this.#status = 'Extracting'
    } else return false
    this.#layers.set(id, layer)
    return true
  }

  sum(): { currentBytes: number; totalBytes: number; status: string } {
    let currentBytes = 0
    let totalBytes = 0
    for (const layer of this.#layers.values()) {
      currentBytes += layer.current
      totalBytes += layer.total
    }
    return { currentBytes, totalBytes, status: this.#status }
  }
}
