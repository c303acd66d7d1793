CREATE TABLE "crux"."audit_count" (
	"team_id" uuid NOT NULL,
	"quarter" timestamp (3) with time zone NOT NULL,
	"accepted" integer NOT NULL,
	"refused" integer NOT NULL,
	CONSTRAINT "audit_count_team_id_quarter_pk" PRIMARY KEY("team_id","quarter")
);
--> statement-breakpoint
ALTER TABLE "crux"."audit_count" ADD CONSTRAINT "audit_count_team_id_team_id_fk" FOREIGN KEY ("team_id") REFERENCES "crux"."team"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE FUNCTION "crux"."quarter_of"(timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN date_bin('15 minutes', $1, '1970-01-01T00:00:00Z');--> statement-breakpoint
CREATE FUNCTION "crux"."count_audit_log"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    -- In one order, so that two statements at once wait for each other and never for good.
    INSERT INTO "crux"."audit_count" AS "c" ("team_id", "quarter", "accepted", "refused")
    SELECT "team_id", "crux"."quarter_of"("created_at"), count(*) FILTER (WHERE "accepted"), count(*) FILTER (WHERE NOT "accepted")
    FROM "came" GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT ("team_id", "quarter") DO UPDATE
    SET "accepted" = "c"."accepted" + excluded."accepted", "refused" = "c"."refused" + excluded."refused";
  ELSE
    -- Where the team goes with them there may be nothing left to count down.
    UPDATE "crux"."audit_count" AS "c"
    SET "accepted" = "c"."accepted" - "g"."accepted", "refused" = "c"."refused" - "g"."refused"
    FROM (SELECT "team_id", "crux"."quarter_of"("created_at") AS "quarter", count(*) FILTER (WHERE "accepted") AS "accepted",
        count(*) FILTER (WHERE NOT "accepted") AS "refused" FROM "gone" GROUP BY 1, 2 ORDER BY 1, 2) AS "g"
    WHERE "c"."team_id" = "g"."team_id" AND "c"."quarter" = "g"."quarter";
    DELETE FROM "crux"."audit_count" AS "c"
    USING (SELECT DISTINCT "team_id", "crux"."quarter_of"("created_at") AS "quarter" FROM "gone") AS "g"
    WHERE "c"."team_id" = "g"."team_id" AND "c"."quarter" = "g"."quarter" AND "c"."accepted" = 0 AND "c"."refused" = 0;
  END IF;
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER "audit_counted_in" AFTER INSERT ON "crux"."audit_log" REFERENCING NEW TABLE AS "came" FOR EACH STATEMENT EXECUTE FUNCTION "crux"."count_audit_log"();--> statement-breakpoint
CREATE TRIGGER "audit_counted_out" AFTER DELETE ON "crux"."audit_log" REFERENCING OLD TABLE AS "gone" FOR EACH STATEMENT EXECUTE FUNCTION "crux"."count_audit_log"();--> statement-breakpoint
INSERT INTO "crux"."audit_count" ("team_id", "quarter", "accepted", "refused") SELECT "team_id", "crux"."quarter_of"("created_at"), count(*) FILTER (WHERE "accepted"), count(*) FILTER (WHERE NOT "accepted") FROM "crux"."audit_log" GROUP BY 1, 2;
