import { limits } from '@crux/contract'
import { nodeTakesDeployments } from '@crux/rules'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Rocket } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { useFreezeQuestion } from '../../api/use-freeze-question.ts'
import { Button } from '../../components/Button.tsx'
import { Dialog } from '../../components/Dialog.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { Field, TextArea } from '../../components/Field.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { blockingProblems } from '../deployments/change-lines.ts'
import { findSources, type PromotionTarget } from './board.ts'
import { listChainVersions, proposeVersion } from './chain-versions.ts'
import { FreezeOverride } from './FreezeOverride.tsx'
import { PromotionChanges } from './PromotionChanges.tsx'
import { useBoard, useLiveNodes } from './use-board.ts'
import { usePromote } from './use-promote.ts'
import { VersionRadios } from './VersionRadios.tsx'

type Props = { teamSlug: string; packageId: string; target: PromotionTarget; onClose: () => void }

/** Chooses a version for an environment, shows what its deployment would change there, and starts it. */
export function PromoteDialog({ teamSlug, packageId, target, onClose }: Props) {
  const { t } = useTranslation(['packages', 'common'])
  const { environment, project } = target
  const params = { teamSlug, packageId, environmentId: environment.id }
  const details = useQuery(apiQuery('packages.get-environment', { params }))
  const { data: board } = useBoard({ teamSlug, packageId })
  const [live = environment] = useLiveNodes(teamSlug, [environment])
  const promote = usePromote({ teamSlug, packageId }, target, onClose)
  const { freezeDenied } = useFreezeQuestion()
  const [chosen, setChosen] = useState(target.versionId)
  const [note, setNote] = useState('')
  const [why, setWhy] = useState('')

  const chain = details.data?.versionChains.find(({ chainId }) => chainId === target.chainId)
  const versions = chain ? listChainVersions(chain, board, target) : []
  const versionId = proposeVersion(versions, chosen)
  const version = versions.find(({ id }) => id === versionId)
  const [source] = findSources(board, target, versionId)
  const preview = useQuery({
    ...apiQuery('packages.preview-promotion', { params, query: { versionId } }),
    enabled: versionId !== '',
    // What is running may have changed since the dialog was opened last.
    staleTime: 0,
    placeholderData: keepPreviousData,
  })
  const shown = preview.isPlaceholderData ? undefined : preview.data
  const freeze = shown?.freeze
  const problems = blockingProblems(shown?.preview).length
  const takes = nodeTakesDeployments(live.node)
  const reason =
    promote.denied ??
    (!version ? t('promote.noVersion') : null) ??
    (takes.allowed ? null : takes.reason) ??
    (problems > 0 ? t('promote.problems', { count: problems }) : null) ??
    (freeze ? (freezeDenied ?? (why.trim() === '' ? t('common:freeze.whyFirst') : null)) : null)
  const body = { versionId, note: note.trim() || null }
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('promote.title', { project: project.name, environment: environment.name })}
      description={t('promote.text', { node: environment.node.name, prefix: environment.prefix })}
      width="wide:w-[720px]"
      initialFocus={(content) => content.querySelector('input:checked') ?? content.querySelector('[data-body] input')}
      footer={
        version && (
          <>
            {!version.deploymentId && (
              <Button
                className="mr-auto"
                title={t('promote.prepareHelp')}
                busy={promote.isPreparing}
                disabledReason={promote.prepareDenied}
                onClick={() => void promote.prepare(version, body.note)}
              >
                {t('promote.prepare')}
              </Button>
            )}
            <Button onClick={onClose}>{t('common:cancel')}</Button>
            <Button
              variant="main"
              icon={Rocket}
              busy={promote.isPending || (!shown && !preview.isError)}
              disabledReason={reason ?? (shown ? null : t('promote.noPreview'))}
              onClick={() =>
                shown &&
                void promote.start(version, {
                  ...body,
                  fromEnvironmentId: source?.id ?? null,
                  expectedHash: shown.preview.hash,
                  ...(freeze && { overrideFreeze: why.trim() }),
                })
              }
            >
              {t(source ? 'promote.submit' : 'promote.submitDeploy', {
                version: version.name,
                environment: environment.name,
              })}
            </Button>
          </>
        )
      }
    >
      {details.isError ? (
        <ErrorState error={details.error} retry={() => void details.refetch()} />
      ) : !details.data ? (
        <SkeletonRows rows={4} />
      ) : !version ? (
        <p className="text-ink-2">{t('promote.noVersion')}</p>
      ) : (
        <div className="grid grid-cols-1 gap-4">
          <VersionRadios versions={versions} value={versionId} onChange={setChosen} />
          {freeze && <FreezeOverride freeze={freeze} mayOverride={!freezeDenied} why={why} onWhy={setWhy} />}
          <PromotionChanges teamSlug={teamSlug} preview={preview} version={version} />
          <Field label={t('promote.note')} optional>
            <TextArea
              rows={2}
              value={note}
              maxLength={limits.description.max}
              onChange={(event) => setNote(event.target.value)}
            />
          </Field>
        </div>
      )}
    </Dialog>
  )
}
