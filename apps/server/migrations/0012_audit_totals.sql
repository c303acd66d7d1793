CREATE OR REPLACE FUNCTION "crux"."count_audit_log"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    -- In one order, so that two statements at once wait for each other and never for good.
    INSERT INTO "crux"."audit_count" AS "c" ("team_id", "quarter", "accepted", "refused")
    SELECT "team_id", coalesce("quarter", '-infinity'), count(*) FILTER (WHERE "accepted"), count(*) FILTER (WHERE NOT "accepted")
    FROM (SELECT "team_id", "crux"."quarter_of"("created_at") AS "quarter", "accepted" FROM "came") AS "n"
    GROUP BY GROUPING SETS (("team_id", "quarter"), ("team_id")) ORDER BY 1, 2
    ON CONFLICT ("team_id", "quarter") DO UPDATE
    SET "accepted" = "c"."accepted" + excluded."accepted", "refused" = "c"."refused" + excluded."refused";
  ELSE
    -- Whoever writes takes the total first: so does this. Where the team goes with its entries nothing is left to count down.
    UPDATE "crux"."audit_count" AS "c"
    SET "accepted" = "c"."accepted" - "g"."accepted", "refused" = "c"."refused" - "g"."refused"
    FROM (SELECT "team_id", count(*) FILTER (WHERE "accepted") AS "accepted", count(*) FILTER (WHERE NOT "accepted") AS "refused"
      FROM "gone" GROUP BY 1 ORDER BY 1) AS "g"
    WHERE "c"."team_id" = "g"."team_id" AND "c"."quarter" = '-infinity';
    UPDATE "crux"."audit_count" AS "c"
    SET "accepted" = "c"."accepted" - "g"."accepted", "refused" = "c"."refused" - "g"."refused"
    FROM (SELECT "team_id", "crux"."quarter_of"("created_at") AS "quarter", count(*) FILTER (WHERE "accepted") AS "accepted",
        count(*) FILTER (WHERE NOT "accepted") AS "refused" FROM "gone" GROUP BY 1, 2) AS "g"
    WHERE "c"."team_id" = "g"."team_id" AND "c"."quarter" = "g"."quarter";
    DELETE FROM "crux"."audit_count" AS "c"
    USING (SELECT DISTINCT "team_id", "crux"."quarter_of"("created_at") AS "quarter" FROM "gone") AS "g"
    WHERE "c"."team_id" = "g"."team_id" AND "c"."quarter" = "g"."quarter" AND "c"."accepted" = 0 AND "c"."refused" = 0;
  END IF;
  RETURN NULL;
END
$$;--> statement-breakpoint
INSERT INTO "crux"."audit_count" ("team_id", "quarter", "accepted", "refused") SELECT "team_id", '-infinity', sum("accepted"), sum("refused") FROM "crux"."audit_count" GROUP BY 1;
