import { randomUUID } from 'node:crypto'
import { create, type MessageInitShape } from '@bufbuild/protobuf'
import { type Release, ReleaseSchema } from '@crux/agent-protocol'
import { FinalContainerConfig } from '@crux/contract'
import type { z } from 'zod'

type ConfigInput = Partial<z.input<typeof FinalContainerConfig>> & { name: string }

/** A final configuration with empty lists where a test names none. */
export function makeConfig(input: ConfigInput): FinalContainerConfig {
  return FinalContainerConfig.parse({
    environment: [],
    ports: [],
    portRanges: [],
    volumes: [],
    commands: [],
    args: [],
    networks: [],
    dockerLabels: [],
    secrets: [],
    ...input,
  })
}

export interface InstanceInput {
  instanceId?: string
  /** `name:tag` */
  image: string
  digest?: string
  /** Digests of the images of init and config containers, by "name:tag". */
  preparationDigests?: Record<string, string>
  localOnly?: boolean
  auth?: { serverAddress: string; username: string; password: string }
  /** The address and keys of the storage that the configuration names. */
  storage?: { url: string; accessKey: string; secretKey: string }
  config: ConfigInput
}

export interface ReleaseInput extends Omit<MessageInitShape<typeof ReleaseSchema>, 'key' | 'owner' | 'instances'> {
  deploymentId?: string
  number?: number
  owner: { teamId: string; projectId: string; nodeId: string; prefix: string }
  instances: readonly InstanceInput[]
}

export function makeRelease({ deploymentId, number, owner, instances, ...rest }: ReleaseInput): Release {
  const { $typeName: _type, ...fields } = rest
  return create(ReleaseSchema, {
    observationWindowMs: 300,
    ...fields,
    key: { deploymentId: deploymentId ?? randomUUID(), number: number ?? 1 },
    owner,
    instances: instances.map(({ instanceId, image, digest, preparationDigests, localOnly, auth, storage, config }) => {
      const colon = image.lastIndexOf(':')
      return {
        instanceId: instanceId ?? randomUUID(),
        imageName: image.slice(0, colon),
        imageTag: image.slice(colon + 1),
        imageDigest: digest ?? '',
        preparationDigests: preparationDigests ?? {},
        localOnly: localOnly ?? false,
        ...(auth ? { registryAuth: auth } : {}),
        ...(storage ? { storage } : {}),
        configJson: JSON.stringify(makeConfig(config)),
      }
    }),
  })
}
