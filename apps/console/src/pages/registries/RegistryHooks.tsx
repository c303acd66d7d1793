import type { HookKind, ResponseOf } from '@crux/contract'
import { offeredHookKinds } from '@crux/rules'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { ErrorState } from '../../components/ErrorState.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { HookDeliveries } from './HookDeliveries.tsx'
import { HookSecret } from './HookSecret.tsx'
import { RegistryToken } from './RegistryToken.tsx'

/** The ways in which this registry can report pushes, and what it has reported. Absent for a registry that has none. */
export function RegistryHooks({ teamSlug, registry }: { teamSlug: string; registry: ResponseOf<'registries.get'> }) {
  const { t } = useTranslation('hooks')
  const params = { teamSlug, registryId: registry.id }
  const kinds = offeredHookKinds(registry)
  const query = useQuery({ ...apiQuery('registries.list-hooks', { params }), enabled: kinds.length > 0 })
  if (kinds.length === 0) return null
  return (
    <section aria-label={t('title')} className="mt-6 grid gap-4">
      <header>
        <h2 className="font-semibold">{t('title')}</h2>
        <p className="text-ink-2">{t('sub')}</p>
      </header>
      {kinds.includes('v2') && <RegistryToken teamSlug={teamSlug} registry={registry} />}
      {query.isError ? (
        <ErrorState error={query.error} retry={() => void query.refetch()} />
      ) : !query.data ? (
        <SkeletonRows rows={2} />
      ) : (
        kinds
          .filter(hasSecret)
          .map((kind) => (
            <HookSecret
              key={kind}
              params={params}
              kind={kind}
              hook={query.data.find((hook) => hook.kind === kind) ?? null}
            />
          ))
      )}
      <HookDeliveries params={params} />
    </section>
  )
}

/** Notifications of distribution registries use the registry's token. */
const hasSecret = (kind: HookKind): kind is Exclude<HookKind, 'v2'> => kind !== 'v2'
