import { projectFiles, type SourceFile } from './repository.ts'

// The project uses the terms of the field (docs/glossary.md). This list holds the words that it used before, with what to write.

interface Retired {
  pattern: RegExp
  instead: string
}

/** Names of code; they are too long or too special to occur as ordinary words. */
export const identifiers: Retired[] = [
  ['formers?[A-Z]\\w*|\\w+Formers?|formers', 'previousContainer...'],
  ['bringAbout', 'applyPlan'],
  ['beginEarly', 'prefetch'],
  ['tellLastWords', 'reportLastLogLines'],
  ['whoTookThePort', 'findPortHolder'],
  ['whileAway', 'retryWhileUnavailable'],
  ['createNarrator|narrator|Narrator', 'progressReporter, ProgressReporter'],
  ['holdPorts|leadPorts|awaitPorts', 'reservePorts, routePorts, waitForPorts'],
  ['companionName', 'handoverNetworkName'],
  ['familiarName|retiredName', 'shortImageName, replacedName'],
  ['beginAnew', 'restart...'],
  [
    'announceWork|dispatchSoon|dispatchForgotten|foldSoon',
    'notifyDispatcher, scheduleDispatch, dispatchOrphaned, scheduleRollup',
  ],
  ['voidSecrets\\w*|voidDeploymentToken', 'invalidate...'],
  ['throwFirst', 'throwIfAny'],
  ['rememberMs|lookAgainMs', 'ttlMs, refetchIntervalMs'],
  ['createAdmission|createTurns|createPortions', 'createUpgradeGuard, createQueue, createChunker'],
  ['preparePlace|releasePlace|listPlaces|isEmptyPlace', '...Target'],
  ['standing|standingContainers|StandingContainer|whatStands', 'current, currentContainers, CurrentContainer'],
  ['raiseSession|earnExchange', 'upgradeSessionAal, completeTokenExchange'],
  ['noteSecurityEvent|noteFailure', 'recordSecurityEvent, recordFailure'],
  ['UsualSection|RareSection|ShownSection', 'BasicSection, AdvancedSection, VisibleSection'],
  ['PageHead|PageFoot|NothingFits|OneToken', 'PageHeader, Pagination, NoMatches, TokenDetails'],
  ['StateLook|lookOf|stateLooks', 'StatusStyle, statusStyle, statusStyles'],
  ['inPlaceOfForm', 'replaceFormEntry'],
  ['wayWords|securityWords|useEventWords', 'authMethodLabels, securityEventLabels, useEventLabels'],
  ['listKeptMails|watchKeptMails|KeptMail', 'listCapturedMails, watchCapturedMails, CapturedMail'],
  ['oddRequests|oddJson', 'fuzzRequests, arbitraryJson'],
  ['tellChange|holdDeeds|LiveDeed', 'publishChange, blockActions, LiveAction'],
  [
    'makePerson|makeSignedPerson|makeBrowserPerson|newPerson|TestPerson|SignedPerson|NewPerson|PersonRow|personFromRow',
    'makeUser, makeSignedInUser, makeBrowserUser, newUser, TestUser, SignedInUser, NewUser, User',
  ],
  ['findPerson|insertPerson|updatePerson|requirePerson|listPeople|countPeople', '...User, ...Users'],
  ['testEnvironment\\.person|person\\.identity', 'testEnvironment.user, user'],
  ['ImageFacts|FileFacts|DeploymentFacts', 'ImageMetadata, FileMetadata, DeploymentSummary'],
  // Conversions and look-ups name what they do. Names of the language, of JSON Schema and of labels, and names that begin with a verb, stay.
  [
    '(?!(?:indexOf|lastIndexOf|valueOf|supportedValuesOf|getPrototypeOf|oneOf|anyOf|allOf|preparationOf)\\b)(?!(?:is|select|lock|count|remove|make|show|to)[A-Z])[a-z]\\w*[a-z]Of',
    'toX for a conversion, getX, listX or findX for a look-up',
  ],
  [
    'VoidedLayer|CarriedBundle|MeasuredPause|PersonActor|ActivePerson',
    'StaleLayer, AttachedBundle, MeasuredDowntime, ActiveUser',
  ],
  [
    'holdBundles|holdStorages?|saysSomething|sayAgain|departTo|goOn',
    'lockBundles, lockStorages, hasEffect, continueTo',
  ],
].map(([pattern = '', instead = '']) => ({ pattern: new RegExp(`\\b(?:${pattern})\\b`, 'g'), instead }))

/** Words that have no other use here. Read in texts of the console, in documents, and in comments and titles of tests. */
export const words: Retired[] = [
  ['anew', 'again'],
  ['for ever', 'forever, indefinitely'],
  ['whoever', 'anyone who, users who, callers that'],
  ['narrators?', 'progress reporter'],
  ['companion networks?', 'handover network'],
  ['bring(?:s|ing)? about|brought about', 'apply, complete'],
].map(([pattern = '', instead = '']) => ({ pattern: new RegExp(`\\b(?:${pattern})\\b`, 'gi'), instead }))

/** These name the retired words themselves. */
const isList = ({ path }: SourceFile) => /^test\/(retired-words|vocabulary\.test)\.ts$/.test(path)

export function findRetired(files: readonly SourceFile[], retired: readonly Retired[]): string[] {
  return files
    .filter((file) => !isList(file))
    .flatMap(({ path, text }) =>
      retired
        .flatMap(({ pattern, instead }) =>
          [...text.matchAll(pattern)].map(({ 0: word, index }) => ({ word, index, instead })),
        )
        .sort((a, b) => a.index - b.index)
        .map(
          ({ word, index, instead }) =>
            `${path}:${text.slice(0, index).split('\n').length} "${word}": write ${instead}`,
        ),
    )
}

export const code = projectFiles(/^(apps|packages|e2e|bench|scripts|test)\/.*\.(ts|tsx|mjs)$/).filter(
  ({ path }) => !path.includes('/generated/'),
)
export const prose = [...projectFiles(/\.md$/), ...projectFiles(/^apps\/console\/src\/locales\/en\/.*\.json$/)]
