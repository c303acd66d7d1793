import {
  Ban,
  CircleCheck,
  CircleDashed,
  CircleHelp,
  CircleMinus,
  CirclePause,
  CircleX,
  Clock,
  History,
  Loader,
  type LucideIcon,
  Unplug,
} from 'lucide-react'

/** The semantic tones of tokens.css. Colour is never the only sign: each style has an icon and a label. */
export type Tone = 'ready' | 'running' | 'progress' | 'failed' | 'past' | 'idle'
export type StatusStyle = { tone: Tone; icon: LucideIcon /** its icon turns */; busy?: boolean }

const ready: StatusStyle = { tone: 'ready', icon: CircleDashed }
const running: StatusStyle = { tone: 'running', icon: CircleCheck }
const busy: StatusStyle = { tone: 'progress', icon: Loader, busy: true }
const failed: StatusStyle = { tone: 'failed', icon: CircleX }

/** Every state that the product shows, by kind and wire value. The labels are `state.{kind}.{value}` of common.json. */
export const statusStyles = {
  deployment: {
    preparing: ready,
    'in-progress': busy,
    successful: running,
    failed,
    obsolete: { tone: 'past', icon: History },
    downgraded: { tone: 'past', icon: History },
  },
  node: {
    connected: running,
    unreachable: { tone: 'failed', icon: Unplug },
    outdated: { tone: 'past', icon: History },
    updating: busy,
  },
  container: {
    running,
    waiting: { tone: 'progress', icon: Clock },
    exited: failed,
    removed: { tone: 'progress', icon: CircleMinus },
    unknown: { tone: 'idle', icon: CircleHelp },
  },
  member: {
    pending: { tone: 'progress', icon: Clock },
    verified: running,
    expired: { tone: 'past', icon: History },
    declined: { tone: 'failed', icon: Ban },
  },
  service: {
    operational: running,
    disrupted: { tone: 'progress', icon: CirclePause },
    unavailable: failed,
  },
  promotion: {
    'in-progress': busy,
    successful: running,
    failed,
    unknown: { tone: 'idle', icon: CircleHelp },
  },
  pipeline: {
    queued: { tone: 'ready', icon: Clock },
    running: busy,
    successful: running,
    failed,
    unknown: { tone: 'idle', icon: CircleHelp },
  },
  notification: {
    active: running,
    inactive: { tone: 'idle', icon: CirclePause },
    /** By Crux, because its address refused for good. */
    'switched-off': failed,
  },
  delivery: {
    pending: { tone: 'progress', icon: Clock },
    delivered: running,
    failed,
    skipped: { tone: 'idle', icon: CircleMinus },
  },
  phase: {
    waiting: { tone: 'idle', icon: CircleMinus },
    running: busy,
    done: running,
    failed,
    skipped: { tone: 'idle', icon: CircleMinus },
  },
} as const satisfies Record<string, Record<string, StatusStyle>>

export type StateKind = keyof typeof statusStyles
export type StateValue<K extends StateKind> = keyof (typeof statusStyles)[K] & string

/** A value that a newer server sends and this console does not know yet is shown as it is. */
export function statusStyle(kind: StateKind, value: string): StatusStyle {
  const appearances: Record<string, StatusStyle> = statusStyles[kind]
  return appearances[value] ?? { tone: 'idle', icon: CircleHelp }
}
