import type { NotificationEvent, NotificationType } from '@crux/contract'
import {
  Hash,
  type LucideIcon,
  Mail,
  MessageCircle,
  MessageSquare,
  MessageSquareQuote,
  MessagesSquare,
  Webhook,
} from 'lucide-react'

/** Neutral icons: the marks of these products belong to their owners. */
export const notificationTypeIcons: Record<NotificationType, LucideIcon> = {
  discord: MessagesSquare,
  slack: Hash,
  teams: MessageSquareQuote,
  rocket: MessageCircle,
  mattermost: MessageSquare,
  email: Mail,
  webhook: Webhook,
}

type EventGroup = { group: 'deployments' | 'versions' | 'nodes' | 'images' | 'members'; events: NotificationEvent[] }

/** The events in the order in which pages list them. */
export const notificationEventGroups: readonly EventGroup[] = [
  { group: 'deployments', events: ['deployment-status'] },
  { group: 'versions', events: ['version-created'] },
  { group: 'nodes', events: ['node-added', 'node-unreachable', 'node-back'] },
  { group: 'images', events: ['image-pushed', 'image-pulled', 'image-digest-changed'] },
  { group: 'members', events: ['user-invited'] },
]
