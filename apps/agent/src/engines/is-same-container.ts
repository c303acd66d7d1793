import type { Container, ExternalAddresses, Pod, PublishedPort } from '@crux/agent-protocol'

/** Whether users would see no difference. An engine may report a moment with or without fractions of a second, so that only whole ones are compared. */
export function isSameContainer(left: Container, right: Container): boolean {
  return (
    left.ref?.prefix === right.ref?.prefix &&
    left.ref?.name === right.ref?.name &&
    left.state === right.state &&
    left.engineState === right.engineState &&
    left.reason === right.reason &&
    left.exitCode === right.exitCode &&
    left.health === right.health &&
    left.restartCount === right.restartCount &&
    left.startedAt?.seconds === right.startedAt?.seconds &&
    left.imageName === right.imageName &&
    left.imageTag === right.imageTag &&
    left.command === right.command &&
    areSameLabels(left.labels, right.labels) &&
    areSame(left.ports, right.ports, isSamePort) &&
    left.isJob === right.isJob &&
    left.podCount === right.podCount &&
    areSame(left.pods, right.pods, isSamePod) &&
    areSame(left.externalAddresses, right.externalAddresses, areSameAddresses)
  )
}

type Comparison<T> = (left: T, right: T) => boolean

const areSame = <T>(left: readonly T[], right: readonly T[], isSame: Comparison<T>): boolean =>
  left.length === right.length &&
  left.every((one, index) => {
    const other = right[index]
    return other !== undefined && isSame(one, other)
  })

function areSameLabels(left: Record<string, string>, right: Record<string, string>): boolean {
  const names = Object.keys(left)
  return names.length === Object.keys(right).length && names.every((name) => left[name] === right[name])
}

const isSamePort: Comparison<PublishedPort> = (left, right) =>
  left.internal === right.internal && left.external === right.external && left.protocol === right.protocol

const isSamePod: Comparison<Pod> = (left, right) =>
  left.name === right.name &&
  left.state === right.state &&
  left.reason === right.reason &&
  left.ready === right.ready &&
  left.exitCode === right.exitCode &&
  left.restartCount === right.restartCount &&
  left.machine === right.machine

const areSameAddresses: Comparison<ExternalAddresses> = (left, right) =>
  left.type === right.type && areSame(left.addresses, right.addresses, (one, other) => one === other)
