#!/usr/bin/env python3
"""Makes the same calls to a running server (FOOTNOTE_URL) and to the local mode of Qdrant's Python client: both must answer alike.

Filters and queries are drawn at random from what the client can express; FOOTNOTE_SEED repeats a run. tools/setup.sh installs the
client (PYTHONPATH=.deps/python).
"""
import os
import random
import unittest
import uuid
import warnings

from qdrant_client import QdrantClient, models

BASE = os.environ["FOOTNOTE_URL"]
SEED = int(os.environ.get("FOOTNOTE_SEED", "20260301"))
POINTS = 60
SIZE = 6
WORDS = ["harbour", "orchard", "copper", "ledger", "mirror", "dawn"]
DISTANCES = [models.Distance.COSINE, models.Distance.DOT, models.Distance.EUCLID, models.Distance.MANHATTAN]


def vector(draw):
    return [round(draw.uniform(-1, 1), 3) for _ in range(SIZE)]


def moment(draw):
    day = f"2026-03-{draw.randint(1, 9):02}"
    return draw.choice([day, f"{day}T07:30:00Z", f"{day} 07:30:00.000001", f"{day}T07:30", f"{day}T09:30:00+02:00"])


def payload(draw):
    out = {"n": draw.randint(0, 9), "city": draw.choice(WORDS)}
    if draw.random() < 0.8:
        out["tags"] = draw.sample(WORDS, draw.randint(0, 3)) + draw.choice([[], [None]])
    if draw.random() < 0.8:
        out["text"] = " ".join(draw.choices(WORDS, k=4)).title()
    if draw.random() < 0.7:
        out["items"] = [{"p": draw.randint(0, 5), "q": [draw.randint(0, 3) for _ in range(draw.randint(0, 3))]} for _ in range(draw.randint(0, 3))]
    if draw.random() < 0.7:
        out["at"] = moment(draw)
    if draw.random() < 0.6:
        out["place"] = {"lon": float(draw.randint(-3, 3)), "lat": float(draw.randint(-3, 3))}
    if draw.random() < 0.5:
        out["flag"] = draw.choice([True, False, None, 1, 1.5])
    return out


def number_range(draw, most):
    low = draw.randint(0, most)
    return {draw.choice(["gt", "gte"]): low, draw.choice(["lt", "lte"]): low + draw.randint(0, 3)}


def geo(draw):
    corner = lambda: models.GeoPoint(lon=draw.randint(-3, 3), lat=draw.randint(-3, 3))
    kind = draw.randint(0, 2)
    if kind == 0:
        return {"geo_bounding_box": models.GeoBoundingBox(top_left=corner(), bottom_right=corner())}
    if kind == 1:
        return {"geo_radius": models.GeoRadius(center=corner(), radius=draw.choice([1e5, 3e5, 6e5]))}
    ring = [models.GeoPoint(lon=-2, lat=-2), models.GeoPoint(lon=-2, lat=2), models.GeoPoint(lon=3, lat=2), models.GeoPoint(lon=3, lat=-2)]
    return {"geo_polygon": models.GeoPolygon(exterior=models.GeoLineString(points=ring + ring[:1]))}


def field(draw):
    kind = draw.randint(0, 9)
    if kind == 0:
        key = draw.choice(["n", "items[].p", "items[0].p", "items[1].q", "items[].q[]", "flag"])
        return models.FieldCondition(key=key, match=models.MatchValue(value=draw.randint(0, 4)))
    if kind == 1:
        return models.FieldCondition(key=draw.choice(["city", "tags"]), match=models.MatchAny(any=draw.sample(WORDS, 2)))
    if kind == 2:
        return models.FieldCondition(key=draw.choice(["city", "tags"]), match=models.MatchExcept(**{"except": draw.sample(WORDS, 2)}))
    if kind == 3:
        words = " ".join(draw.sample(WORDS, draw.randint(1, 2)))
        match = draw.choice([models.MatchText(text=words), models.MatchTextAny(text_any=words), models.MatchPhrase(phrase=words)])
        return models.FieldCondition(key="text", match=match)
    if kind == 4:
        return models.FieldCondition(key=draw.choice(["n", "items[].p", "items[].q"]), range=models.Range(**number_range(draw, 6)))
    if kind == 5:
        low, high = sorted([moment(draw), moment(draw)])
        return models.FieldCondition(key="at", range=models.DatetimeRange(gte=low.strip(), lt=high))
    if kind == 6:
        return models.FieldCondition(key=draw.choice(["tags", "items", "items[].q", "nobody"]), values_count=models.ValuesCount(**number_range(draw, 2)))
    if kind == 7:
        return models.FieldCondition(key="place", **geo(draw))
    if kind == 8:
        return models.IsEmptyCondition(is_empty=models.PayloadField(key=draw.choice(["tags", "flag", "items", "items[].q"])))
    return models.IsNullCondition(is_null=models.PayloadField(key=draw.choice(["tags", "flag", "nobody"])))


def condition(draw, depth):
    kind = draw.random()
    if kind < 0.7 or depth > 2:
        return field(draw)
    if kind < 0.8:
        inner = models.Filter(must=[models.FieldCondition(key="p", range=models.Range(**number_range(draw, 4)))],
                              must_not=[models.FieldCondition(key="q", match=models.MatchValue(value=1))])
        return models.NestedCondition(nested=models.Nested(key=draw.choice(["items", "items[]", "place"]), filter=inner))
    if kind < 0.85:
        return models.SliceCondition(slice=models.Slice(total=3, index=draw.randint(0, 2)))
    return query_filter(draw, depth + 1)


def query_filter(draw, depth=0):
    some = lambda: [condition(draw, depth) for _ in range(draw.randint(1, 2))] if draw.random() < 0.5 else None
    out = models.Filter(must=some(), should=some(), must_not=some())
    if draw.random() < 0.2:
        out.min_should = models.MinShould(conditions=[condition(draw, depth) for _ in range(3)], min_count=2)
    return out


class AnswersLikeLocalMode(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        warnings.simplefilter("ignore")
        cls.draw = random.Random(SEED)
        cls.both = [QdrantClient(url=BASE, check_compatibility=False), QdrantClient(":memory:")]
        points = []
        for i in range(POINTS):
            id = i if i % 3 else str(uuid.UUID(int=cls.draw.getrandbits(128)))
            points.append(models.PointStruct(id=id, vector=vector(cls.draw), payload=payload(cls.draw)))
        cls.ids = [point.id for point in points]
        cls.names = []
        for distance in DISTANCES:
            name = f"like-{distance.value}"
            cls.names.append(name)
            for client in cls.both:
                client.create_collection(name, vectors_config=models.VectorParams(size=SIZE, distance=distance))
                client.upsert(name, points, wait=True)
        params = models.VectorParams(size=SIZE, distance=models.Distance.COSINE)
        for client in cls.both:
            client.create_collection("like-named", vectors_config={"a": params, "b": params})
            client.upsert("like-named", [models.PointStruct(id=point.id, vector={"a": point.vector, "b": point.vector[::-1]}, payload={}) for point in points])

    def alike(self, call, describe):
        """Both answers; an error of both counts as alike."""
        answers, errors = [], []
        for client in self.both:
            try:
                answers.append(call(client))
            except Exception as error:
                errors.append(error)
        self.assertNotEqual(len(errors), 1, f"{describe()}: {errors} {answers}")
        return answers

    def same_scores(self, answers, describe):
        if not answers:
            return
        ours, theirs = ([(str(point.id), point.score) for point in answer.points] for answer in answers)
        self.assertEqual(len(ours), len(theirs), describe())
        for (_, score), (_, expected) in zip(ours, theirs):
            self.assertAlmostEqual(score, expected, delta=2e-3 * max(1, abs(expected)), msg=describe())
        # Points with equal scores may change places, also across the end of the list.
        last = theirs[-1][1] if theirs else 0
        sure = lambda points: {id for id, score in points if abs(score - last) > 5e-3 * max(1, abs(last))}
        self.assertEqual(sure(ours), sure(theirs), describe())

    def test_filters(self):
        name = self.names[0]
        for _ in range(400):
            chosen = query_filter(self.draw)
            describe = lambda: f"seed {SEED}: {chosen.model_dump_json(exclude_none=True, by_alias=True)}"
            found = self.alike(lambda client: sorted(str(p.id) for p in client.scroll(name, scroll_filter=chosen, limit=POINTS)[0]), describe)
            if found:
                self.assertEqual(*found, describe())

    def example(self):
        return self.draw.choice([self.draw.choice(self.ids), vector(self.draw)])

    def query(self, kinds=(0, 1, 2, 3, 4)):
        kind = self.draw.choice(kinds)
        some = lambda least: [self.example() for _ in range(self.draw.randint(least, 3))]
        if kind == 0:
            return models.NearestQuery(nearest=self.example())
        if kind == 1:
            strategy = self.draw.choice(list(models.RecommendStrategy))
            return models.RecommendQuery(recommend=models.RecommendInput(positive=some(1), negative=some(0), strategy=strategy))
        pairs = [models.ContextPair(positive=self.example(), negative=self.example()) for _ in range(self.draw.randint(1, 3))]
        if kind == 2:
            return models.DiscoverQuery(discover=models.DiscoverInput(target=self.example(), context=pairs))
        if kind == 3:
            return models.ContextQuery(context=pairs)
        return models.NearestQuery(nearest=self.example(), mmr=models.Mmr(diversity=self.draw.choice([0.2, 0.5]), candidates_limit=POINTS))

    def test_queries(self):
        for round in range(160):
            name = self.names[round % len(self.names)]
            query = self.query()
            is_context = isinstance(query, models.ContextQuery)  # its best scores are equal: which ones an offset skips is open
            wanted = dict(query=query, limit=self.draw.randint(1, 12), offset=0 if is_context else self.draw.choice([0, 0, 2]),
                          query_filter=query_filter(self.draw) if self.draw.random() < 0.3 else None)
            describe = lambda: f"seed {SEED}: {name} {wanted}"
            self.same_scores(self.alike(lambda client: client.query_points(name, **wanted), describe), describe)

    def test_prefetches(self):
        for _ in range(60):
            # Not contexts: many of their scores are equal, and fusion by rank depends on the order of equals.
            parts = [models.Prefetch(query=self.query((0, 1, 2, 4)), using=self.draw.choice(["a", "b"]), limit=self.draw.randint(3, 20)) for _ in range(2)]
            fusion = self.draw.choice([models.FusionQuery(fusion=models.Fusion.RRF), models.FusionQuery(fusion=models.Fusion.DBSF),
                                       models.RrfQuery(rrf=models.Rrf(k=self.draw.choice([2, 60]), weights=[1.0, 3.0])), vector(self.draw)])
            wanted = dict(prefetch=parts, query=fusion, limit=8, using="a" if isinstance(fusion, list) else None)
            describe = lambda: f"seed {SEED}: {wanted}"
            self.same_scores(self.alike(lambda client: client.query_points("like-named", **wanted), describe), describe)

    def test_payload_selectors(self):
        for selector in [models.PayloadSelectorInclude(include=["items[].p", "place.lon"]), models.PayloadSelectorExclude(exclude=["items[].q", "n"]),
                         models.PayloadSelectorInclude(include=["items.p", "tags"]), ["city", "items[0].p"], True, False]:
            shown = [{str(p.id): p.payload or {} for p in client.scroll(self.names[0], limit=POINTS, with_payload=selector)[0]} for client in self.both]
            self.assertEqual(*shown, selector)

    def test_order_by(self):
        for key, schema in (("n", "integer"), ("at", "datetime")):
            for client in self.both:
                client.create_payload_index(self.names[0], key, schema)
            for direction in models.Direction:
                wanted = models.OrderBy(key=key, direction=direction)
                values = [[p.order_value for p in client.scroll(self.names[0], order_by=wanted, limit=20, with_payload=False)[0]] for client in self.both]
                self.assertEqual(*values, f"{key} {direction}")

    def test_groups_with_a_lookup(self):
        for client in self.both:
            client.create_collection("like-looked-up", vectors_config=models.VectorParams(size=2, distance=models.Distance.DOT))
            client.upsert("like-looked-up", [models.PointStruct(id=i, vector=[1, i], payload={"number": i}) for i in range(10)])
        nearest = vector(self.draw)
        found = [client.query_points_groups(self.names[0], group_by="n", query=nearest, limit=4, group_size=2, with_lookup="like-looked-up").groups for client in self.both]
        shown = [[(group.id, [str(hit.id) for hit in group.hits], group.lookup.payload) for group in groups] for groups in found]
        self.assertEqual(*shown)

    def test_examples_of_another_collection(self):
        wanted = dict(query=models.RecommendQuery(recommend=models.RecommendInput(positive=[self.ids[0], self.ids[1]])), using="b", limit=5,
                      lookup_from=models.LookupLocation(collection=self.names[0]))
        for client in self.both[:1]:
            self.assertEqual(len(client.query_points("like-named", **{**wanted, "lookup_from": models.LookupLocation(collection="like-named", vector="a")}).points), 5)

    def test_the_vector_named_nothing_is_the_unnamed_one(self):
        client = self.both[0]
        client.create_collection("like-langchain", vectors_config={"": models.VectorParams(size=2, distance=models.Distance.COSINE)})
        client.upsert("like-langchain", [models.PointStruct(id=1, vector={"": [1, 0]}, payload={"page_content": "x"})])
        self.assertEqual(client.get_collection("like-langchain").config.params.vectors.size, 2)
        self.assertEqual(client.query_points("like-langchain", query=[1, 0], using="", limit=999_999_999).points[0].id, 1)


if __name__ == "__main__":
    unittest.main()
