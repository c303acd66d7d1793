import { type LinkProps, useNavigate } from '@tanstack/react-router'
import { Command } from 'cmdk'
import { type LucideIcon, Plus, Search } from 'lucide-react'
import { Dialog as Radix } from 'radix-ui'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useDenied, useTeamOrNone } from '../api/me.ts'
import { giveFocusBack } from '../components/focus-trail.ts'
import { accountPages } from './account-pages.ts'
import { navigation } from './navigation.ts'
import type { CreateAction, QuickActionSource } from './quick-actions.ts'

type Props = { sources: readonly QuickActionSource[]; onClose: () => void }
type Go = (link: LinkProps) => void

/** Jumps to any page and to the records that the pages register. Lists come from the cache and are refetched in the background. */
export function Palette({ sources, onClose }: Props) {
  const { t } = useTranslation('palette')
  const navigate = useNavigate()
  const team = useTeamOrNone()
  const [typed, setTyped] = useState('')
  const go = (link: LinkProps) => {
    onClose()
    void navigate(link)
  }
  return (
    <Radix.Root open onOpenChange={(open) => !open && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-veil animate-[appear_.1s]" />
        <Radix.Content
          aria-describedby={undefined}
          onCloseAutoFocus={giveFocusBack}
          className="fixed top-[12vh] left-1/2 z-50 w-[calc(100vw-24px)] max-w-[560px] -translate-x-1/2 overflow-hidden rounded-box border border-line bg-raised shadow-lift outline-none"
        >
          <Radix.Title className="sr-only">{t('title')}</Radix.Title>
          <Command label={t('title')} loop filter={matches}>
            <div className="flex items-center gap-2 border-b border-line px-3">
              <Search aria-hidden className="text-ink-3" />
              <Command.Input
                autoFocus
                value={typed}
                onValueChange={setTyped}
                placeholder={t('placeholder')}
                className="h-11 flex-1 bg-transparent outline-none"
              />
            </div>
            <Command.List className="max-h-[min(420px,60vh)] overflow-y-auto p-1">
              <Command.Empty className="px-3 py-6 text-center text-ink-2">{t('nothing')}</Command.Empty>
              {team && <TeamPages sources={sources} teamSlug={team.slug} go={go} />}
              {sources.map(
                (source) =>
                  (team || source.needsNoTeam) && (
                    <Records key={source.area} source={source} teamSlug={team?.slug ?? ''} typed={typed} go={go} />
                  ),
              )}
              <AccountPages go={go} />
            </Command.List>
          </Command>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

/** The pages of the team, and the forms that create something. */
function TeamPages({ sources, teamSlug, go }: { sources: Props['sources']; teamSlug: string; go: Go }) {
  const { t } = useTranslation(['palette', 'common'])
  return (
    <>
      <Group heading={t('pages')}>
        {navigation.flatMap(({ entries }) =>
          entries.map((entry) => (
            <Entry
              key={entry.id}
              value={`page ${entry.id}`}
              searchText={[t(`common:nav.${entry.id}`)]}
              icon={entry.icon}
              onSelect={() => go(entry.link(teamSlug))}
            />
          )),
        )}
      </Group>
      <Group heading={t('create')}>
        {sources.map(({ create }) =>
          create?.map((action) => (
            <CreateEntry key={action.label} create={action} onSelect={() => go(action.link(teamSlug))} />
          )),
        )}
      </Group>
    </>
  )
}

type CreateProps = { create: CreateAction; onSelect: () => void }

function CreateEntry({ create: { operation, label }, onSelect }: CreateProps) {
  const { t } = useTranslation(['palette', 'common'])
  const denied = useDenied(operation)
  return <Entry value={`create ${label}`} denied={denied} searchText={[t(label)]} icon={Plus} onSelect={onSelect} />
}

type RecordsProps = { source: QuickActionSource; teamSlug: string; typed: string; go: Go }

/** The records of one source. */
function Records({ source: { area, icon, useQuickActions }, teamSlug, typed, go }: RecordsProps) {
  const { t } = useTranslation('common')
  const records = useQuickActions(teamSlug, typed)
  if (records.length === 0) return null
  return (
    <Group heading={t(`nav.${area}`)}>
      {records.map(({ id, searchText, link, content, trailing }) => (
        <Entry
          key={id}
          value={id}
          searchText={searchText}
          icon={icon}
          onSelect={() => go(link)}
          content={content}
          trailing={trailing}
        />
      ))}
    </Group>
  )
}

/** The account pages; the first of them, the profile, is a page of the navigation already. */
function AccountPages({ go }: { go: Go }) {
  const { t } = useTranslation('account')
  return (
    <Group heading={t('title')}>
      {accountPages.slice(1).map((entry) => (
        <Entry
          key={entry.id}
          value={`account ${entry.id}`}
          searchText={[t(`tab.${entry.id}`), t('title')]}
          icon={entry.icon}
          onSelect={() => go(entry.link)}
        />
      ))}
    </Group>
  )
}

/**
 * Every typed word must occur in the entry's search text, which starts with its name. A full name means that entry and not
 * one that only mentions it: exact names come first, then names that start with the text, names that contain it, and mentions.
 */
function matches(_: string, search: string, searchText: string[] = []): number {
  const [name = ''] = searchText.map((word) => word.toLowerCase())
  const text = searchText.join(' ').toLowerCase()
  const phrase = search.trim().toLowerCase().replace(/\s+/g, ' ')
  const typed = phrase.split(' ').filter(Boolean)
  if (!typed.every((word) => text.includes(word))) return 0
  if (name === phrase) return 1
  if (name.startsWith(phrase)) return 0.8
  if (typed.every((word) => name.includes(word))) return 0.6
  return text.startsWith(typed[0] ?? '') ? 0.4 : 0.2
}

const Group = ({ heading, children }: { heading: string; children: ReactNode }) => (
  <Command.Group
    heading={heading}
    className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-small [&_[cmdk-group-heading]]:text-ink-3"
  >
    {children}
  </Command.Group>
)

type EntryProps = {
  /** Must be unique. */
  value: string
  /** Typed text is matched against these; the first is the name. */
  searchText: string[]
  icon: LucideIcon
  onSelect: () => void
  /** Why it cannot be chosen; shown beside its name. */
  denied?: string | null
  trailing?: ReactNode
  /** Shown instead of the name. */
  content?: ReactNode
}

const Entry = ({ value, searchText, icon: Icon, onSelect, denied, trailing, content }: EntryProps) => (
  <Command.Item
    value={value}
    keywords={searchText}
    onSelect={onSelect}
    disabled={Boolean(denied)}
    className="flex min-h-8 cursor-pointer items-center gap-2 rounded-md px-2 data-[selected=true]:bg-hover [&>svg]:text-ink-3 aria-disabled:cursor-default aria-disabled:text-ink-2"
  >
    <Icon aria-hidden />
    <span className="min-w-0 flex-1 truncate">{content ?? searchText[0]}</span>
    {denied && <span className="text-small text-ink-2">{denied}</span>}
    {trailing}
  </Command.Item>
)
