import type { Timestamp } from '@bufbuild/protobuf/wkt'
import { Code, ConnectError } from '@connectrpc/connect'
import {
  type AgentInfo,
  type ClaimKey,
  type Container,
  type LogLine,
  type ObjectDifference,
  ObjectDifferenceType,
  type PortHolder,
  type ReportDeploymentRequest,
  type StoredImage,
} from '@crux/agent-protocol'
import { ContainerIdentifier } from '@crux/contract'
import { type Command, type CommandResult, unusableAnswer } from '../agent-links/index.ts'
import { cut, safeInteger, text } from './checked-values.ts'
import { checkAddresses, checkMachines } from './cluster-answers.ts'

/**
 * Validates what agents send: the schema checks the shape of a message, these functions check its values. An agent runs
 * on a machine that this server does not trust, so times are clamped, texts are cut and counts are bounded before other
 * code uses them.
 */

/** The end of the year 9999, the latest date that the wire format can express. */
const secondsMax = 253_402_300_799n
const containersMax = 10_000
const imagesMax = 20_000
const entriesMax = 2_000
const podsMax = 100
const fieldsMax = 100
const inspectionMax = 2 * 1_048_576
const publicKeyMax = 65_536
/** The upper limit of a column that counts releases. */
const portMax = 65_535
const releaseNumberMax = 2_147_483_647

/** The kind of answer that belongs to each command; commands that are missing here have none. */
const answers: Partial<Record<Command['case'], CommandResult['case']>> = {
  operateContainer: 'done',
  deleteContainers: 'done',
  rotateToken: 'done',
  listContainers: 'containers',
  inspectContainer: 'inspection',
  readLog: 'log',
  listImages: 'images',
  removeImages: 'removedImages',
  findPortHolders: 'portHolders',
  findDrift: 'drift',
  listMachines: 'machines',
  findPrefixData: 'prefixData',
  deletePrefixData: 'deletedPrefixData',
}

/** @throws CruxError badGateway for another kind of answer than the command has, and for one that cannot be used */
export function checkAnswer(command: Command['case'], result: CommandResult): CommandResult {
  if (answers[command] !== result.case) throw unusableAnswer()
  switch (result.case) {
    case 'done':
      return result
    case 'containers': {
      const { containers } = result.value
      const checked = checkContainers(containers)
      if (checked.length < containers.length) throw unusableAnswer()
      return { ...result, value: { ...result.value, containers: checked } }
    }
    case 'inspection':
      if (!isJsonObject(result.value.json)) throw unusableAnswer()
      return result
    case 'log':
      return { ...result, value: { ...result.value, lines: checkLines(result.value.lines) } }
    case 'images':
      if (result.value.images.length > imagesMax) throw unusableAnswer()
      return { ...result, value: { ...result.value, images: result.value.images.map(checkImage) } }
    case 'portHolders':
      return {
        ...result,
        value: { ...result.value, holders: result.value.holders.slice(0, entriesMax).map(checkHolder) },
      }
    case 'drift':
      return {
        ...result,
        value: { ...result.value, objects: result.value.objects.slice(0, entriesMax).map(checkDifference) },
      }
    case 'machines':
      return { ...result, value: checkMachines(result.value) }
    case 'prefixData':
    case 'deletedPrefixData':
      return checkPrefixData(result)
    case 'removedImages': {
      const { imageIds, freedBytes, kept } = result.value
      return {
        ...result,
        value: {
          ...result.value,
          imageIds: imageIds.slice(0, entriesMax).map((id) => cut(id, text.short)),
          freedBytes: safeInteger(freedBytes),
          kept: kept
            .slice(0, entriesMax)
            .map((one) => ({ ...one, imageId: cut(one.imageId, text.short), reason: cut(one.reason, text.sentence) })),
        },
      }
    }
  }
}

/** Leaves out containers without a usable name. */
export function checkContainers(containers: readonly Container[]): Container[] {
  return containers.slice(0, containersMax).flatMap((container) => {
    const ref = ContainerIdentifier.safeParse({ prefix: container.ref?.prefix ?? '', name: container.ref?.name ?? '' })
    if (!ref.success) return []
    return [
      {
        ...container,
        engineId: cut(container.engineId, text.short),
        command: cut(container.command, text.sentence),
        createdAt: clamp(container.createdAt),
        startedAt: clamp(container.startedAt),
        reason: cut(container.reason, text.sentence),
        health: cut(container.health, text.short),
        imageName: cut(container.imageName, text.name),
        imageTag: cut(container.imageTag, text.short),
        engineState: cut(container.engineState, text.short),
        ports: container.ports
          .slice(0, entriesMax)
          .map((port) => ({ ...port, protocol: cut(port.protocol, text.short) })),
        labels: Object.fromEntries(
          Object.entries(container.labels)
            .slice(0, entriesMax)
            .map(([key, value]) => [cut(key, text.name), cut(value, text.label)]),
        ),
        pods: container.pods.slice(0, podsMax).map((pod) => ({
          ...pod,
          name: cut(pod.name, text.short),
          reason: cut(pod.reason, text.sentence),
          machine: cut(pod.machine, text.short),
          createdAt: clamp(pod.createdAt),
        })),
        externalAddresses: checkAddresses(container.externalAddresses),
      },
    ]
  })
}

export function checkLines(lines: readonly LogLine[]): LogLine[] {
  return lines.map((line) => ({ ...line, at: clamp(line.at), text: cut(line.text, text.line) }))
}

function checkImage(image: StoredImage): StoredImage {
  if (!/^sha256:[0-9a-f]{64}$/.test(image.id)) throw unusableAnswer()
  return {
    ...image,
    references: image.references.slice(0, entriesMax).map((reference) => cut(reference, text.name)),
    sizeBytes: safeInteger(image.sizeBytes),
    createdAt: clamp(image.createdAt),
    containers: image.containers.slice(0, entriesMax).map((name) => cut(name, text.short)),
  }
}

function checkHolder(holder: PortHolder): PortHolder {
  if ((holder.port?.port ?? 0) > portMax) throw unusableAnswer()
  return { ...holder, containerName: cut(holder.containerName, text.short) }
}

function checkDifference(object: ObjectDifference): ObjectDifference {
  return {
    ...object,
    kind: cut(object.kind, text.short),
    name: cut(object.name, text.short),
    // A later version of the agent may know further types.
    type: Object.values(ObjectDifferenceType).includes(object.type) ? object.type : ObjectDifferenceType.UNSPECIFIED,
    fields: object.fields.slice(0, fieldsMax).map((field) => ({
      ...field,
      path: cut(field.path, text.name),
      ...(field.wanted !== undefined && { wanted: cut(field.wanted, text.sentence) }),
      ...(field.found !== undefined && { found: cut(field.found, text.sentence) }),
    })),
  }
}

function checkPrefixData(
  result: Extract<CommandResult, { case: 'prefixData' | 'deletedPrefixData' }>,
): Extract<CommandResult, { case: 'prefixData' | 'deletedPrefixData' }> {
  const toReason = (reason: string) => cut(reason, text.sentence)
  const toKey = <C extends { key?: ClaimKey }>({ key }: C) => {
    if (!key || key.name === '' || key.name.length > text.short || key.uid === '' || key.uid.length > text.short)
      throw unusableAnswer()
    return key
  }
  if (result.case === 'deletedPrefixData') {
    const { claims, namespace } = result.value
    const checked = claims
      .slice(0, entriesMax)
      .map((claim) => ({ ...claim, key: toKey(claim), reason: toReason(claim.reason) }))
    return {
      ...result,
      value: {
        ...result.value,
        claims: checked,
        ...(namespace && { namespace: { ...namespace, reason: toReason(namespace.reason) } }),
      },
    }
  }
  const { claims, foreignObjects, namespaceReason } = result.value
  const checked = claims.slice(0, entriesMax).map((claim) => ({
    ...claim,
    key: toKey(claim),
    volumeName: cut(claim.volumeName, text.short),
    size: cut(claim.size, text.short),
    storageClass: cut(claim.storageClass, text.short),
    phase: cut(claim.phase, text.short),
    createdAt: clamp(claim.createdAt),
  }))
  return {
    ...result,
    value: {
      ...result.value,
      claims: checked,
      namespaceReason: toReason(namespaceReason),
      foreignObjects: foreignObjects
        .slice(0, entriesMax)
        .map((object) => ({ ...object, kind: cut(object.kind, text.short), name: cut(object.name, text.short) })),
    },
  }
}

/** Refuses a batch with sequence numbers that our agent cannot reach. @throws ConnectError */
export function checkReport(batch: ReportDeploymentRequest): ReportDeploymentRequest {
  const refuse = () => new ConnectError('the report makes no sense', Code.InvalidArgument)
  if ((batch.release?.number ?? 0) > releaseNumberMax) throw refuse()
  return {
    ...batch,
    events: batch.events.map((event) => {
      if (event.sequence > BigInt(Number.MAX_SAFE_INTEGER)) throw refuse()
      return { ...event, at: clamp(event.at) }
    }),
  }
}

/** The agent's information about itself, reduced to what can be stored. @throws ConnectError */
export function checkInfo(info: AgentInfo): AgentInfo {
  if (info.publicKey.length > publicKeyMax || info.publicKey.includes('\0'))
    throw new ConnectError('the public key makes no sense', Code.InvalidArgument)
  return {
    ...info,
    version: cut(info.version, text.short),
    containerName: cut(info.containerName, text.short),
    engineVersion: cut(info.engineVersion, text.short),
    operatingSystem: cut(info.operatingSystem, text.short),
    architecture: cut(info.architecture, text.short),
    sessionId: cut(info.sessionId, text.short),
    openReleases: info.openReleases.filter(({ number }) => number <= releaseNumberMax).slice(0, entriesMax),
  }
}

/** Failures are sentences for people; the text of an agent may be of any length. */
export const failureSentence = (message: string): string => cut(message, text.sentence)

function clamp(at: Timestamp | undefined): Timestamp | undefined {
  if (!at) return undefined
  const seconds = at.seconds < 0n ? 0n : at.seconds > secondsMax ? secondsMax : at.seconds
  return { ...at, seconds, nanos: Math.min(999_999_999, Math.max(0, at.nanos)) }
}

function isJsonObject(json: string): boolean {
  if (json.length > inspectionMax) return false
  try {
    const parsed: unknown = JSON.parse(json)
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
  } catch {
    return false
  }
}
