import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Command } from 'cmdk'
import { Boxes, Database, HardDrive, Plus, Rocket, Search, Server, SlidersHorizontal, Users } from 'lucide-react'
import { Dialog as Radix } from 'radix-ui'
import { type ReactNode, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../api/client.ts'
import { useDenied, useMe, useTeamOrNone } from '../api/me.ts'
import { giveFocusBack } from '../components/focus-trail.ts'
import { State } from '../components/State.tsx'
import { links } from '../routing/links.ts'
import { accountPages } from './account-pages.ts'
import { navigation } from './navigation.ts'

/** Jumps to any project, node, deployment, registry, bundle, storage, team or page. Lists come from the cache and are read again behind it. */
export function Palette({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation(['palette', 'common'])
  const team = useTeamOrNone()
  const [typed, setTyped] = useState('')
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
              {team && <TeamEntries teamSlug={team.slug} typed={typed} onClose={onClose} />}
              <TeamList onClose={onClose} />
              <AccountList onClose={onClose} />
            </Command.List>
          </Command>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

/** As many as are listed at once; of more, those that were changed last. */
const deploymentsMax = 200
const pauseMs = 200

/** The newest deployments, and where there are more the ones that fit what is typed, once it pauses. */
function useDeployments(teamSlug: string, typed: string) {
  const [word, setWord] = useState('')
  useEffect(() => {
    // The server looks for one text; the rest of the words is matched here.
    const longest = typed.split(/\s+/).reduce((one, other) => (other.length > one.length ? other : one))
    const timer = setTimeout(() => setWord(longest), pauseMs)
    return () => clearTimeout(timer)
  }, [typed])
  const list = (filter?: string) =>
    apiQuery('deployments.list', { params: { teamSlug }, query: { skip: 0, take: deploymentsMax, filter } })
  const newest = useQuery(list()).data
  const isPart = newest !== undefined && newest.total > newest.items.length
  const found = useQuery({ ...list(word), enabled: isPart && word !== '', placeholderData: keepPreviousData }).data
  const all = [...(newest?.items ?? []), ...((isPart && found?.items) || [])]
  return [...new Map(all.map((deployment) => [deployment.id, deployment])).values()]
}

function TeamEntries({ teamSlug, typed, onClose }: { teamSlug: string; typed: string; onClose: () => void }) {
  const { t } = useTranslation(['palette', 'common'])
  const navigate = useNavigate()
  const params = { teamSlug }
  const projects = useQuery(apiQuery('projects.list', { params })).data ?? []
  const nodes = useQuery(apiQuery('nodes.list', { params })).data ?? []
  const registries = useQuery(apiQuery('registries.list', { params })).data ?? []
  const bundles = useQuery(apiQuery('config-bundles.list', { params })).data ?? []
  const storages = useQuery(apiQuery('storages.list', { params })).data ?? []
  const deployments = useDeployments(teamSlug, typed)
  const denied = {
    project: useDenied('projects.create'),
    node: useDenied('nodes.create'),
    registry: useDenied('registries.create'),
    bundle: useDenied('config-bundles.create'),
    storage: useDenied('storages.create'),
  }
  const go = (link: object) => {
    onClose()
    void navigate(link)
  }
  return (
    <>
      <Group heading={t('pages')}>
        {navigation.flatMap(({ entries }) =>
          entries.map((entry) => (
            <Entry
              key={entry.id}
              value={`page ${entry.id}`}
              searchText={[t(`common:nav.${entry.id}`)]}
              icon={<entry.icon aria-hidden />}
              onSelect={() => go(entry.link(teamSlug))}
            >
              {t(`common:nav.${entry.id}`)}
            </Entry>
          )),
        )}
      </Group>
      <Group heading={t('create')}>
        <Entry
          value="create project"
          denied={denied.project}
          searchText={[t('newProject')]}
          icon={<Plus aria-hidden />}
          onSelect={() => go(links.projects(teamSlug, 'new'))}
        >
          {t('newProject')}
        </Entry>
        <Entry
          value="create node"
          denied={denied.node}
          searchText={[t('newNode')]}
          icon={<Plus aria-hidden />}
          onSelect={() => go(links.nodes(teamSlug, 'new'))}
        >
          {t('newNode')}
        </Entry>
        <Entry
          value="create registry"
          denied={denied.registry}
          searchText={[t('newRegistry')]}
          icon={<Plus aria-hidden />}
          onSelect={() => go(links.registries(teamSlug, 'new'))}
        >
          {t('newRegistry')}
        </Entry>
        <Entry
          value="create bundle"
          denied={denied.bundle}
          searchText={[t('newBundle')]}
          icon={<Plus aria-hidden />}
          onSelect={() => go(links.configBundles(teamSlug, 'new'))}
        >
          {t('newBundle')}
        </Entry>
        <Entry
          value="create storage"
          denied={denied.storage}
          searchText={[t('newStorage')]}
          icon={<Plus aria-hidden />}
          onSelect={() => go(links.storages(teamSlug, 'new'))}
        >
          {t('newStorage')}
        </Entry>
      </Group>
      {projects.length > 0 && (
        <Group heading={t('common:nav.projects')}>
          {projects.map((project) => (
            <Entry
              key={project.id}
              value={project.id}
              searchText={[project.name]}
              icon={<Boxes aria-hidden />}
              onSelect={() => go(links.project(teamSlug, project.id))}
            >
              {project.name}
            </Entry>
          ))}
        </Group>
      )}
      {deployments.length > 0 && (
        <Group heading={t('common:nav.deployments')}>
          {deployments.map((deployment) => (
            <Entry
              key={deployment.id}
              value={deployment.id}
              searchText={[deployment.project.name, deployment.version.name, deployment.node.name, deployment.prefix]}
              icon={<Rocket aria-hidden />}
              onSelect={() => go(links.deployment(teamSlug, deployment.id))}
              trailing={<State kind="deployment" value={deployment.status} />}
            >
              {deployment.project.name}{' '}
              {deployment.project.type === 'versioned' && <code>{deployment.version.name}</code>}
              <span className="text-ink-2"> {t('on', { node: deployment.node.name, prefix: deployment.prefix })}</span>
            </Entry>
          ))}
        </Group>
      )}
      {nodes.length > 0 && (
        <Group heading={t('common:nav.nodes')}>
          {nodes.map((node) => (
            <Entry
              key={node.id}
              value={node.id}
              searchText={[node.name, node.address ?? '']}
              icon={<Server aria-hidden />}
              onSelect={() => go(links.node(teamSlug, node.id))}
              trailing={<State kind="node" value={node.status} />}
            >
              {node.name}
            </Entry>
          ))}
        </Group>
      )}
      {registries.length > 0 && (
        <Group heading={t('common:nav.registries')}>
          {registries.map((registry) => (
            <Entry
              key={registry.id}
              value={registry.id}
              searchText={[registry.name, registry.url]}
              icon={<Database aria-hidden />}
              onSelect={() => go(links.registry(teamSlug, registry.id))}
            >
              {registry.name}
            </Entry>
          ))}
        </Group>
      )}
      {bundles.length > 0 && (
        <Group heading={t('common:nav.config-bundles')}>
          {bundles.map((bundle) => (
            <Entry
              key={bundle.id}
              value={bundle.id}
              searchText={[bundle.name]}
              icon={<SlidersHorizontal aria-hidden />}
              onSelect={() => go(links.configBundle(teamSlug, bundle.id))}
            >
              {bundle.name}
            </Entry>
          ))}
        </Group>
      )}
      {storages.length > 0 && (
        <Group heading={t('common:nav.storages')}>
          {storages.map((storage) => (
            <Entry
              key={storage.id}
              value={storage.id}
              searchText={[storage.name, storage.url]}
              icon={<HardDrive aria-hidden />}
              onSelect={() => go(links.storage(teamSlug, storage.id))}
            >
              {storage.name}
            </Entry>
          ))}
        </Group>
      )}
    </>
  )
}

function TeamList({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('common')
  const navigate = useNavigate()
  const teams = useMe()?.teams ?? []
  return (
    <Group heading={t('nav.teams')}>
      {teams.map((team) => (
        <Entry
          key={team.id}
          value={team.id}
          searchText={[team.name, team.slug]}
          icon={<Users aria-hidden />}
          onSelect={() => {
            onClose()
            void navigate(links.teamHome(team.slug))
          }}
        >
          {team.name}
        </Entry>
      ))}
    </Group>
  )
}

/** The account pages; the first of them, the profile, is a page of the navigation already. */
function AccountList({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('account')
  const navigate = useNavigate()
  return (
    <Group heading={t('title')}>
      {accountPages.slice(1).map((entry) => (
        <Entry
          key={entry.id}
          value={`account ${entry.id}`}
          searchText={[t(`tab.${entry.id}`), t('title')]}
          icon={<entry.icon aria-hidden />}
          onSelect={() => {
            onClose()
            void navigate(entry.link)
          }}
        >
          {t(`tab.${entry.id}`)}
        </Entry>
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
  value: string
  searchText: string[]
  icon: ReactNode
  onSelect: () => void
  /** Why it cannot be chosen; shown beside its name. */
  denied?: string | null
  trailing?: ReactNode
  children: ReactNode
}

/** `value` must be unique; typed text is matched against the search text. */
const Entry = ({ value, searchText, icon, onSelect, denied, trailing, children }: EntryProps) => (
  <Command.Item
    value={value}
    keywords={searchText}
    onSelect={onSelect}
    disabled={Boolean(denied)}
    className="flex min-h-8 cursor-pointer items-center gap-2 rounded-md px-2 data-[selected=true]:bg-hover [&>svg]:text-ink-3 aria-disabled:cursor-default aria-disabled:text-ink-2"
  >
    {icon}
    <span className="min-w-0 flex-1 truncate">{children}</span>
    {denied && <span className="text-small text-ink-2">{denied}</span>}
    {trailing}
  </Command.Item>
)
