import type { TeamEvent, TeamEventOf } from '../team-events/index.ts'
import { toPlainText } from './message-text.ts'

/** What a delivery says: a sentence, and what happened for programs that receive it. */
export type Message = {
  text: string
  data: {
    /** ISO 8601. */
    at: string
    /** The page of Crux below the team's address; null for the page of the team itself. */
    page: string | null
    /** As the event has it; names are as people typed them. */
    details: Record<string, unknown>
  }
}

/** Names are at most 70 characters, those of images 255; what a foreign service sends may be anything. */
const nameMax = 100
const imageMax = 300
const reasonMax = 500

const name = (text: string) => toPlainText(text, nameMax) || 'Unknown'

/** Names are on one line and limited, but not escaped: each target has its own rules. */
export function toMessage(event: TeamEvent): Message {
  const { key: _key, teamId: _teamId, type: _type, at, ...details } = event
  return { text: toSentence(event), data: { at, page: toPage(event), details } }
}

export const testMessage = (notificationName: string, at = new Date()): Message => ({
  text: `This is a test of the notification ${name(notificationName)}.`,
  data: { at: at.toISOString(), page: '/notifications', details: {} },
})

function toSentence(event: TeamEvent): string {
  switch (event.type) {
    case 'deployment-status':
      return describeRelease(event)
    case 'version-created':
      return `${name(event.by)} created the version ${name(event.versionName)} of ${name(event.projectName)}.`
    case 'node-added':
      return `${name(event.by)} added the node ${name(event.nodeName)}.`
    case 'user-invited':
      return `${name(event.by)} invited ${name(event.email)} to the team ${name(event.teamName)}.`
    case 'image-pushed':
      return `${toImage(event)} was pushed to ${name(event.registryName)}.`
    case 'image-pulled':
      return `${toImage(event)} was pulled from ${name(event.registryName)}.`
    case 'image-digest-changed':
      return `The tag ${toImage(event)} in ${name(event.registryName)} has a new digest: ${toPlainText(event.digest, 80)}.`
    case 'node-unreachable':
      return `The node ${name(event.nodeName)} has been unreachable since ${toUtc(event.since)}.`
    case 'node-back':
      return `The node ${name(event.nodeName)} is back. It was unreachable since ${toUtc(event.since)}.`
  }
}

function describeRelease(event: TeamEventOf<'deployment-status'>): string {
  const what = `${name(event.projectName)} ${name(event.versionName)}`
  const where = `${name(event.nodeName)} (prefix ${name(event.prefix)})`
  if (event.successful) return `${name(event.by)} deployed ${what} to ${where}.`
  const reason = event.reason ? `: ${toPlainText(event.reason, reasonMax).replace(/\.$/, '')}` : ''
  return `The deployment of ${what} to ${where} failed${reason}. ${name(event.by)} had started it.`
}

const toImage = ({ imageName, tag }: { imageName: string; tag?: string }) =>
  toPlainText(tag ? `${imageName}:${tag}` : imageName, imageMax)

function toPage(event: TeamEvent): string | null {
  switch (event.type) {
    case 'deployment-status':
      return `/deployments/${event.deploymentId}/deploy?try=${event.releaseNumber}`
    case 'version-created':
      return `/projects/${event.projectId}/versions/${event.versionId}`
    case 'user-invited':
      return null
    case 'node-added':
    case 'node-unreachable':
    case 'node-back':
      return `/nodes/${event.nodeId}`
    default:
      return `/registries/${event.registryId}`
  }
}

/** `2026-11-23 12:03 UTC` */
export const toUtc = (iso: string): string => `${iso.slice(0, 16).replace('T', ' ')} UTC`
